"""The redundancy gate: merge duplicates, suggest probable ones, keep others apart."""
