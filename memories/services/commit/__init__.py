"""Commit new memories: one, a batch, or a JSON Lines file."""
