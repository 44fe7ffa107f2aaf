"""The seam by which upper apps hear of memories; sent inside the writing transaction."""

from django.dispatch import Signal

# A memory was written or its content changed: always sent, whether or not the detective is to read.
# Arguments: workspace (with the settings that hold for this writing), memory_ids (list of UUID),
# first_in_line (set of UUID that the gate kept apart from a contradicting neighbour), created
# (those of them, as far as the sender tells, that this transaction made: nothing hangs on them
# yet), is_detected (False when the caller asked for no detection), now.
memories_written = Signal()

# Memories left (or came back to) what is recallable. Arguments: memory_ids, now.
memories_hidden = Signal()
memories_revived = Signal()

# Memories are about to be erased for good. Arguments: memory_ids, quoted_in (tells whether a text
# holds any of their wordings), pieces (patterns: every text that quotes a wording holds one of
# them, in whatever case; "" where there is none), first_seq (of history's first event about what
# has held one of their wordings; 0 when history does not tell), now.
memories_erased = Signal()

# A session began or ended. Arguments: session (Session), now.
session_started = Signal()
session_ended = Signal()

# A session is about to be erased for good. Arguments: session (Session), now.
session_erased = Signal()
