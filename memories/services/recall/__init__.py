"""Answer queries: gather a pool of candidates, rank, explain and log."""
