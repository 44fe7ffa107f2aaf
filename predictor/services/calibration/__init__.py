"""Calibration: people label judged memories without seeing the judge's relevance."""
