"""The pages of memories: the list, one memory with its life, changes in place."""
