"""Sessions: candidates and ranking at the start, prompts, feedback, end."""
