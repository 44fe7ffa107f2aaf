"""The search index: vectors, token states, postings and statement hashes."""
