"""A simulated user, so that a ranker can be measured against the truth."""
