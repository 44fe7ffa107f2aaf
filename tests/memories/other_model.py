"""The second embedding model of tests: what a stand-in for its provider answers."""

from __future__ import annotations

LOCAL = "all-MiniLM-L6-v2"
OTHER = "spelling@8"  # the stand-in's model: nearness is shared letters


def letters(texts: list[str]) -> list[list[float]]:
    """Return how often each of eight groups of letters stands in a text."""
    groups = ["abc", "def", "ghi", "jkl", "mno", "pqr", "stu", "vwxyz"]
    return [[1.0 + sum(text.lower().count(c) for c in group) for group in groups] for text in texts]
