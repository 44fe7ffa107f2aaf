"""The only writers of memories: one verb a module."""
