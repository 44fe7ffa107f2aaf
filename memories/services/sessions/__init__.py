"""Sessions: gather and rank candidates at the start, count prompts, take feedback, end."""
