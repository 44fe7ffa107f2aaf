"""The weekly demotion of memories that nobody uses, and its undo."""
