"""Answering queries: a pool of candidates, ranked, explained and logged."""
