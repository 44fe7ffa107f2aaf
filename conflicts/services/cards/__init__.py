"""Conflict cards: filing findings, following changes of their members, listing, showing."""
