"""The redundancy gate: what is the same statement is merged, suggested or kept apart."""
