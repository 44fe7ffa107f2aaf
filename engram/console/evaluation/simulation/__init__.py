"""Simulate users, so that rankers can be measured against the truth."""
