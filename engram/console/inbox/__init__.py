"""One queue of all items that wait for a person; `registry.py` lists their sources."""
