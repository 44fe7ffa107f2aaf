"""Notes: store, delete, embed, import, search, and give as context."""
