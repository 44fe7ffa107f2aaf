"""One queue of everything that waits for a person; `registry.py` lists what can wait."""
