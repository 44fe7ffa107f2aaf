"""Judging ended sessions, and the labels that follow."""
