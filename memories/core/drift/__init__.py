"""Decide whether a note still says what a memory that links it claims."""
