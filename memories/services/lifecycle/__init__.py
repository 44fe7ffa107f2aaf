"""Creating, changing and hiding memories: revise, forget, restore, erase, roll back."""
