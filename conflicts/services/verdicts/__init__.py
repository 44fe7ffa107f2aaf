"""Decisions of people: what they change, in bulk and one by one, and undo."""
