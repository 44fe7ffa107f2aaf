"""Compare what memories answer: one question, its answers over time."""
