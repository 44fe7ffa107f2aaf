"""Reports and relations of memories from callers, and the callers' records."""
