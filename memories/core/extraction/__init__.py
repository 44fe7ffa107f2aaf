"""Read transcripts of conversations and choose the statements that are worth a memory."""
