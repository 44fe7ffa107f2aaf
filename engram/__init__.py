"""Engram: the memory service for AI agents that stays true."""

import os

# One thread per process for linear algebra, set before numpy is first imported: under load two
# threads turned 7 ms an embedding into 17 at the median and 209 at p95.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
