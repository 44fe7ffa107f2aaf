"""The admin of memories and of what looks after them."""

from memories.admin.memories import MemoryAdmin

__all__ = ["MemoryAdmin"]
