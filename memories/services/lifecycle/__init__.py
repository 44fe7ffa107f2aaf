"""Create, change and hide memories: revise, forget, restore, erase, roll back."""
