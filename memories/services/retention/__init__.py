"""Retention: how long a workspace keeps transcripts, sessions and records of recalls."""
