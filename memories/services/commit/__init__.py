"""Writing new memories: one, many at once, or a file of them."""
