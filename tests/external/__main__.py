"""Start real servers and the product on them, test that, then pass the suite by their URLs.

    python -m tests.external [--postgres 16] [--rabbitmq] [--only-scale-out] [pytest's arguments]

PostgreSQL with pgvector and Redis come from the packages that the product has, and listen on
free TCP ports with passwords. Two web processes, two workers and a scheduler run beside the suite,
in another database and another Redis database than the tests.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from tests.external.product import product
from tests.external.servers import (
    INSTALLATIONS,
    ServerError,
    postgres,
    rabbitmq,
    redis_server,
    remove,
)
from tests.homes import ENVIRONMENT, SOURCE

# What is about the embedded servers themselves, or starts homes with them.
EMBEDDED = (
    "tests/e2e",
    "tests/kernel/test_embedded.py",
    "tests/console/test_doctor.py",
)
# It reads the log of the embedded server.
EMBEDDED_LOG = (
    "tests/memories/test_erase.py::test_a_failed_write_leaves_no_text_in_the_log_of_the_database"
)
# Plans, and the statistics that they are made of, are those of the embedded version.
PLANS = ("tests/memories/test_plans.py", "tests/conflicts/test_story_plans.py")


def main() -> int:
    """Run everything; return the exit code."""
    parser = argparse.ArgumentParser(prog="tests.external", description=__doc__)
    parser.add_argument("--postgres", choices=sorted(INSTALLATIONS), default="18")
    parser.add_argument("--rabbitmq", action="store_true", help="as the broker of the product")
    parser.add_argument("--only-scale-out", action="store_true", help="without the suite")
    options, others = parser.parse_known_args()
    folder = Path(tempfile.mkdtemp(prefix="engram-external-"))
    try:
        return _run(folder, options, others)
    except ServerError as error:
        print(f"engram: {error}", file=sys.stderr)  # noqa: T201
        return 1
    finally:
        remove(folder)


def _run(folder: Path, options: argparse.Namespace, others: list[str]) -> int:
    with ExitStack() as stack:
        database = stack.enter_context(postgres(folder, options.postgres))
        broker = stack.enter_context(redis_server(folder))
        urls = {"DATABASE_URL": database, "BROKER_URL": f"{broker}/0"}
        if options.rabbitmq:
            queue = stack.enter_context(rabbitmq(folder))
            urls |= {"BROKER_URL": queue, "REDIS_URL": f"{broker}/0"}
        running = stack.enter_context(product(folder, urls))
        _say(f"two web processes ({', '.join(running.webs)}) and two workers on real servers")
        environment = {**ENVIRONMENT, "DATABASE_URL": database, "BROKER_URL": f"{broker}/1"}
        environment |= running.environment() | {
            "ENGRAM_EXTERNAL_REDIS": f"{broker}/0",
            "ENGRAM_EXTERNAL_BROKER": urls["BROKER_URL"].partition(":")[0],
        }
        scaled = _pytest(environment, "tests/external/scale_out.py", "-n", "0")
        if scaled or options.only_scale_out:
            return scaled
        left_out = (*EMBEDDED, *(() if options.postgres == "18" else PLANS))
        ignored = [*(f"--ignore={path}" for path in left_out), f"--deselect={EMBEDDED_LOG}"]
        processes = ["-n", os.environ.get("TEST_PROCESSES", "2"), "--dist", "worksteal"]
        return _pytest(environment, *processes, *ignored, *others)


def _pytest(environment: dict[str, str], *arguments: str) -> int:
    started = time.monotonic()
    code = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments], cwd=SOURCE, env=environment, check=False
    ).returncode
    _say(f"pytest ended with {code} after {time.monotonic() - started:.0f} s")
    return code


def _say(line: str) -> None:
    print(f"== {line}", flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
