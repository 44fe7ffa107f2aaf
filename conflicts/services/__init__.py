"""The only writers of conflicts: one verb a module."""
