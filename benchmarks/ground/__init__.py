"""What the benchmarks stand on: a database of their own, synthetic memories, clocks.

Importing it prepares Django; one thread for the linear algebra, as in production.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "engram.settings")
os.environ.setdefault("ENGRAM_TEST_DATABASE", f"test_engram_{os.getpid()}_bench")

from engram import embedded

embedded.export_environment()

import django

django.setup()
