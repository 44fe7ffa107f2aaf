"""The admin of memories and of what looks after them."""

from memories.admin.janitor import JanitorRunAdmin
from memories.admin.memories import MemoryAdmin

__all__ = ["JanitorRunAdmin", "MemoryAdmin"]
