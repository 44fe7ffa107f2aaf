"""Audit files that a team already has: what repeats, contradicts itself, or is gone."""
