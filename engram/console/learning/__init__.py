"""Pages about what is learned from sessions: the ranker's standing, and the judge's."""
