"""The seam by which upper apps hear of memories; sent inside the writing transaction."""

from django.dispatch import Signal

# A memory was written or its content changed. Arguments: memory_ids (list of UUID), first_in_line
# (set of UUID that the gate kept apart from a contradicting neighbour), now.
memories_written = Signal()

# Memories left (or came back to) what is recallable. Arguments: memory_ids, now.
memories_hidden = Signal()
memories_revived = Signal()
