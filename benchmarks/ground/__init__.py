"""What the benchmarks stand on: a database of their own, synthetic memories, percentiles."""
