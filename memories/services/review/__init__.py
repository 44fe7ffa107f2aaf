"""What waits for a person because the caller may not decide it alone."""
