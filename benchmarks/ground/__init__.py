"""What the benchmarks stand on: a database of their own, synthetic memories, clocks.

Importing it prepares Django; one thread for the linear algebra, as in production.
"""

import os
import sys

if "OPENBLAS_NUM_THREADS" not in os.environ:
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    if "numpy" in sys.modules:  # which has read its number of threads: start again
        os.execv(sys.executable, sys.orig_argv)  # noqa: S606 (this program)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "engram.settings")
os.environ.setdefault("ENGRAM_TEST_DATABASE", f"test_engram_{os.getpid()}_bench")

from engram import embedded

embedded.export_environment()

import django

django.setup()
