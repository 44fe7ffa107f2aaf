"""Muting of rules that people keep dismissing."""
