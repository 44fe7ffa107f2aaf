"""The formats of the one language."""
