"""Training a workspace's ranker, from the due row to the promoted version."""
