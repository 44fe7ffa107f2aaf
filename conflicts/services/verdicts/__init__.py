"""Decisions of people: resolve one card or many, undo, list recent decisions."""
