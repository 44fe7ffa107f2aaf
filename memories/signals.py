"""Signals about memories and sessions, sent inside the writing transaction."""

from django.dispatch import Signal

# Memories were written or their content changed; sent even if detection is off. Arguments:
# workspace (with the settings for this write), memory_ids (list of UUID), first_in_line (set of
# UUID that the gate kept apart from a contradicting neighbour), created (those known to be created
# by this transaction: no other row refers to them), reworded (those that say something else now),
# linking (those created or reworded that link notes, or did before), respelled (others of these,
# whose wording changed in spacing, case or typography only), is_detected (False when the caller
# wants no detection), actor, now.
memories_written = Signal()

# Memories were hidden (or restored). Arguments: memory_ids, actor, now.
memories_hidden = Signal()
memories_revived = Signal()

# Memories are about to be erased. Arguments: memory_ids, answering (other memories, which have lost
# answers that an erased statement brought them), quoted_in (returns whether a text contains
# any of their wordings), pieces (patterns: every text that quotes a wording contains one of them,
# in any case; "" where there is none), first_seq (sequence number of the first event about an
# object that held one of their wordings; 0 if unknown), now.
memories_erased = Signal()

# A session started or ended. Arguments: session (Session), now.
session_started = Signal()
session_ended = Signal()

# The transcripts of sessions are erased, the sessions stay. Arguments: session_ids, now.
transcripts_erased = Signal()

# A session is about to be deleted. Arguments: session (Session), now.
session_erased = Signal()
