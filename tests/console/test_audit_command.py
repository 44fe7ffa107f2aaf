"""`manage.py audit`: what it prints and writes, its exit codes, and what it leaves behind."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from tests.console.audits import write
from tests.homes import ENVIRONMENT, SOURCE, eventually, processes_of

TEAM = {
    "AGENTS.md": "- Sessions of the shop expire after 30 minutes.\n\n[x](gone.md)\n",
    "docs/a.md": "# Shop\n\nSessions of the shop expire after 60 minutes.\n",
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def audit(*arguments: str) -> tuple[int, str]:
    """Run the command; return its exit code and what it printed."""
    out = StringIO()
    try:
        call_command("audit", *arguments, stdout=out, stderr=StringIO())
    except SystemExit as error:
        return int(error.code or 0), out.getvalue()
    return 0, out.getvalue()


def test_findings_are_printed_and_exit_with_one(here: Path) -> None:
    write(here, TEAM)
    code, text = audit(".")
    assert code == 1
    assert text == (
        "Contradictions (1)\n\n"
        "Does “Sessions of the shop expire after 60 minutes” hold, rather than “Sessions of the "
        "shop\nexpire after 30 minutes”?\n"
        "  docs/a.md:3\n"
        "  AGENTS.md:1\n"
        "  They disagree (number differs: 30 minutes vs 60 minutes), and no statement settles "
        "which\n  one holds.\n\n"
        "Stands on something that is gone (1)\n\n"
        "Where should the link to “gone.md” lead?\n"
        "  AGENTS.md:3\n"
        "  There is no gone.md.\n\n"
        "2 files, 3 statements: 1 contradiction, 1 thing gone.\n"
    )  # fmt: skip


def test_nothing_found_exits_with_zero(here: Path) -> None:
    write(here, {"a.md": "All is well in the shop today.\n"})
    assert audit("a.md") == (0, "1 file, 1 statement: nothing found.\n")


def test_json_is_the_same_every_time(here: Path) -> None:
    write(here, TEAM)
    code, first = audit(".", "--json", "-")
    assert (code, audit(".", "--json", "-")) == (1, (1, first))
    report = json.loads(first)
    assert report["counts"] == {"contradiction": 1, "gone": 1, "repeat": 0}
    assert report["findings"][0]["places"][0] == {
        "path": "docs/a.md",
        "line": 3,
        "end_line": 3,
        "text": "Sessions of the shop expire after 60 minutes.",
    }
    assert audit(".", "--json", "out.json")[1].startswith("Contradictions (1)")
    assert (here / "out.json").read_text() == first


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nowhere: No such file or directory"),
        (["."], "There is nothing to audit in ."),
        ([], "the following arguments are required: PATH"),
        ([".", "--only", "typos"], "invalid choice: 'typos'"),
    ],
)
def test_a_usage_error_has_a_message_and_exit_code_two(arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError) as caught:
        call_command("audit", *arguments)
    assert message in str(caught.value)
    assert caught.value.returncode == 2 or "arguments" in message or "choice" in message


def test_a_report_that_cannot_be_written_is_a_usage_error(here: Path) -> None:
    write(here, TEAM)
    with pytest.raises(CommandError, match="No such file") as caught:
        call_command("audit", ".", "--json", "missing/out.json", stdout=StringIO())
    assert caught.value.returncode == 2


def run(here: Path, *arguments: str) -> subprocess.Popen[str]:
    home = here.parent / "home-of-audit"
    return subprocess.Popen(
        [sys.executable, str(SOURCE / "manage.py"), "audit", *arguments],
        cwd=here, env={**ENVIRONMENT, "ENGRAM_HOME": str(home)}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def test_no_server_is_started_and_nothing_is_kept(here: Path) -> None:
    write(here, TEAM)
    before = sorted(here.rglob("*"))
    process = run(here, ".")
    out, err = process.communicate()
    assert process.returncode == 1, err
    assert "1 contradiction" in out
    assert sorted(here.rglob("*")) == before
    home = here.parent / "home-of-audit"
    assert not processes_of(home)
    assert not [
        file for file in home.rglob("*") if file.is_file() and b"Sessions of" in file.read_bytes()
    ]


@pytest.fixture
def heeded_interrupts() -> Iterator[None]:
    """Let new processes heed an interrupt: where tests run in the background, shells ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeded_interrupts")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_audit_that_is_ended_leaves_nothing_behind(here: Path, how: signal.Signals) -> None:
    write(here, {f"a{n}.md": f"Sentence {n} of the audit.\n\n" * 2_000 for n in range(30)})
    before = sorted(here.rglob("*"))
    process = run(here, ".")
    assert eventually(lambda: process.poll() is not None or _has_begun(process.pid))
    # Again where Python lost it: an interrupt is ignored in a callback of an import.
    assert eventually(lambda: process.poll() is not None or process.send_signal(how))
    process.communicate()
    assert process.returncode in (130, -how)
    assert sorted(here.rglob("*")) == before
    assert not processes_of(here.parent / "home-of-audit")


def _has_begun(pid: int) -> bool:
    """Return whether a process has loaded what the command needs."""
    return "numpy" in Path(f"/proc/{pid}/maps").read_text()
