"""A new home for a benchmark that starts the product, before anything reads ENGRAM_HOME.

At toy size, where figures mean nothing, it is a copy of the home that tests copy, too.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path


def make_benchmark_home(name: str) -> str:
    """Return a new folder for ENGRAM_HOME."""
    home = tempfile.mkdtemp(prefix=f"engram-{name}-")
    if os.environ.get("BENCH_SIZE", "full") != "full":
        subprocess.run([sys.executable, "-m", "tests.benchmark_home", home], check=True)
    return home


def main() -> None:
    """Copy the prepared home of this environment's ENGRAM_HOME into a folder."""
    import django

    from engram import embedded
    from engram.embedded.places import make_home

    shared = embedded.home_folder() / "test"
    make_home(shared)
    os.environ |= {"ENGRAM_HOME": str(shared), "DJANGO_SETTINGS_MODULE": "engram.settings"}
    django.setup()

    from tests.prepared_home import prepare

    prepare(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
