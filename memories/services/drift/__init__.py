"""Whether the notes that memories link still carry them: support, checks, prediction errors."""
