"""What search reads: vectors, token states, postings and statement hashes."""
