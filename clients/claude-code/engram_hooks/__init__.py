"""Hooks of a coding agent: sessions, prompts and transcripts go to Engram, memories come back.

Standard library only, Python 3.9 or later.
"""
