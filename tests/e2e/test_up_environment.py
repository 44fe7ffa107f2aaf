"""The scripts behind `make`: what they install, what they say, what they return."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.homes import PATIENCE_SECONDS, SOURCE

# Passes for a Python 3.11 whose packager left out the venv module.
PYTHON_WITHOUT_VENV = """#!/bin/sh
case "$2" in
  *ensurepip*) exit 1 ;;
  *python%d.%d-venv*) echo python3.11-venv ;;
esac
"""
# Passes for the interpreter of an environment, and writes down what it is asked to do.
RECORDING_PYTHON = """#!/bin/sh
[ "$1" = -c ] || echo "$*" >> calls
"""
# Passes for make: what each of its two targets prints and returns comes from the environment.
RECORDED_MAKE = """#!/bin/sh
[ "$2" = check ] && exit "$CHECK"
[ "$2" = bench ] && exit "$BENCH"
echo "$PYTEST_SAID"
[ "$TEST" = 0 ] || echo "make: *** [Makefile:17: test] Error $TEST" >&2
exit "$TEST"
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a folder that holds the scripts and a lock file, and nothing else."""
    folder = tmp_path / "a checkout"
    shutil.copytree(SOURCE / ".ci", folder / ".ci")
    (folder / "requirements.txt").write_text("one==1\n")
    return folder


def run(folder: Path, *command: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


def write_program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_missing_python_is_named(checkout: Path) -> None:
    done = run(checkout, ".ci/venv", "requirements.txt", ENGRAM_PYTHON="/bin/false")
    assert done.returncode == 1
    assert done.stderr.startswith("engram: Python 3.11 or 3.12 is needed, and none was found")


def test_missing_venv_module_is_named(checkout: Path) -> None:
    python = write_program(checkout / "python", PYTHON_WITHOUT_VENV)
    done = run(checkout, ".ci/venv", "requirements.txt", ENGRAM_PYTHON="./python")
    assert (done.returncode, done.stderr) == (
        1,
        "engram: ./python has no venv module. On Debian or Ubuntu: "
        "apt-get install python3.11-venv\n",
    )
    assert python.exists()
    assert not (checkout / ".venv").exists()


def test_lock_is_installed_once_and_again_when_it_changed(checkout: Path) -> None:
    write_program(checkout / ".venv" / "bin" / "python", RECORDING_PYTHON)
    for lock in ("one==1\n", "one==1\n", "one==2\n"):
        (checkout / "requirements.txt").write_text(lock)
        assert run(checkout, ".ci/venv", "requirements.txt").returncode == 0
    calls = (checkout / "calls").read_text().splitlines()
    assert len(calls) == 2
    assert calls[0].endswith("--no-deps --require-hashes -r requirements.txt")


def test_another_environment_leaves_the_own_one_alone(checkout: Path) -> None:
    for name in (".venv", ".venv-peers"):
        write_program(checkout / name / "bin" / "python", RECORDING_PYTHON)
    assert run(checkout, ".ci/venv", "requirements.txt", ENGRAM_VENV=".venv-peers").returncode == 0
    assert (checkout / ".venv-peers" / "installed-requirements.txt").exists()
    assert not (checkout / ".venv" / "installed-requirements.txt").exists()


def test_failed_installation_is_tried_again(checkout: Path) -> None:
    write_program(checkout / ".venv" / "bin" / "python", '#!/bin/sh\n[ "$1" = -c ]\n')
    for _ in range(2):
        done = run(checkout, ".ci/venv", "requirements.txt")
        assert (done.returncode, done.stdout) == (1, "installing requirements.txt\n")
        assert "could not be installed" in done.stderr


@pytest.mark.parametrize(("ci", "code"), [("", 0), ("true", 1)])
def test_missing_browser_is_loud_and_fails_ci(checkout: Path, ci: str, code: int) -> None:
    programs = checkout / "programs"
    write_program(programs / "id", "#!/bin/sh\necho 1000\n")
    write_program(programs / "dirname", "#!/bin/sh\necho .ci\n")
    done = run(checkout, "/bin/sh", ".ci/browser", PATH=str(programs), CI=ci)
    assert done.returncode == code
    assert done.stderr.startswith("engram: NO CHROMIUM: the browser tests will not run.")


@pytest.mark.parametrize(
    ("codes", "said", "code"),
    [
        ((0, 0, 0), "== 3 passed in 2.50s ==", 0),
        ((0, 0, 2), "== 1 failed, 3 passed in 2.50s ==", 2),
        ((0, 0, 5), "== no tests ran in 0.01s ==", 5),
        ((2, 0, 0), "== 3 passed in 2.50s (0:01:02) ==", 2),
        ((0, 3, 0), "== 3 passed in 2.50s ==", 3),
    ],
)
def test_ci_ends_with_the_line_of_pytest_and_the_code_of_what_failed(
    checkout: Path, codes: tuple[int, int, int], said: str, code: int
) -> None:
    write_program(checkout / "programs" / "make", RECORDED_MAKE)
    done = run(
        checkout,
        ".ci/run",
        PATH=f"{checkout / 'programs'}:{os.environ['PATH']}",
        **dict(zip(("CHECK", "BENCH", "TEST"), map(str, codes), strict=True)),
        PYTEST_SAID=said,
    )
    assert (done.returncode, done.stdout.splitlines()[-1]) == (code, said)
