"""Stored versions of rankers: add, serve, export, import, reset."""
