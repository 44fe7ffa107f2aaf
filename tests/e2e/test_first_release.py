"""Years of data: rows that the first release wrote are migrated to this one, and still serve.

`data/first_release.zip` is a backup of that release; `first_release_story.py` says what was done.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engram.console.backup.archive import open_backup
from engram.console.backup.manifest import applied_nodes
from tests.e2e.first_release_story import FACTS, FORGOTTEN, REVISED
from tests.e2e.installation import Installation
from tests.homes import throw_away

ARCHIVE = Path(__file__).parent / "data" / "first_release.zip"


@pytest.fixture(scope="module")
def upgraded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Restore the backup, which migrates it to this version, and make a key."""
    with throw_away(tmp_path_factory.mktemp("upgraded") / "a home") as home:
        of = Installation(home)
        assert "673 rows of 69 tables restored and compared" in of.done("restore", str(ARCHIVE))
        of.key = of.done("create_key", "--workspace", "studio", "--role", "admin").strip()
        yield of
        of.stop()


def contents(recalled: Any) -> list[str]:
    return [result["memory"]["content"] for result in recalled["results"]]


def test_it_was_written_by_the_squashed_migrations_alone() -> None:
    with open_backup(ARCHIVE) as backup:
        applied = applied_nodes(backup.manifest)
    ours = {"kernel", "memories", "conflicts", "predictor", "console"}
    assert {app for app, _ in applied if app in ours} == ours
    assert all(name.startswith("0001_squashed") for app, name in applied if app in ours)


def test_what_was_remembered_serves(upgraded: Installation) -> None:
    kiln, wheel, terrace, memories, history = upgraded.call(
        ("POST", "memories/recall", {"query": "How hot is the kiln?", "k": 3}),
        ("POST", "memories/recall", {"query": "When is the drive belt tightened?", "k": 1}),
        ("POST", "memories/recall", {"query": "the café's terrace", "k": 1}),
        ("GET", "memories?limit=200", None),
        ("GET", "events?limit=200", None),
    )
    hot = [content for content in contents(kiln) if "kiln" in content]
    assert hot in ([FACTS[0]], [FACTS[1]])  # the verdict keeps one of them
    assert (contents(wheel), contents(terrace)) == ([REVISED], [FACTS[6]])
    assert FORGOTTEN not in {memory["content"] for memory in memories["results"]}
    assert {"memory.revised", "memory.forgotten"} <= {one["type"] for one in history["results"]}


def test_what_was_forgotten_stays_forgotten_and_repeats_are_known(upgraded: Installation) -> None:
    again = [{"content": text, "scope": "studio"} for text in (FORGOTTEN, FACTS[4])]
    forgotten, known = upgraded.call(*(("POST", "memories", body) for body in again))
    assert (forgotten["outcome"], forgotten["memory"]) == ("suppressed", None)
    assert known["outcome"] == "duplicate"


def test_open_cards_can_be_decided_and_verdicts_undone(upgraded: Installation) -> None:
    cards = upgraded.call(("GET", "conflicts", None))[0]["results"]
    states = {card["status"]: card for card in cards}
    assert set(states) == {"open", "resolved"}
    assert "PostgreSQL" in states["open"]["question"]
    decided, undone = upgraded.call(
        ("POST", f"conflicts/{states['open']['id']}/resolve", {"verdict": "yes"}),
        ("POST", f"conflicts/{states['resolved']['id']}/undo", {}),
    )
    assert (decided["status"], undone["status"]) == ("resolved", "open")
    kiln = upgraded.call(("POST", "memories/recall", {"query": "How hot is the kiln?", "k": 3}))[0]
    assert {FACTS[0], FACTS[1]} <= set(contents(kiln))


def test_new_memories_are_compared_with_old_ones(upgraded: Installation) -> None:
    fact = "The apple orchard is pruned in November, before the sap rises."
    upgraded.call(("POST", "memories", {"content": fact, "scope": "studio"}))
    upgraded.done("detect", "--workspace", "studio")
    cards = upgraded.call(("GET", "conflicts?status=open", None))[0]["results"]
    assert any("orchard" in card["question"] for card in cards)


def test_sessions_and_their_comparisons_are_there(upgraded: Installation) -> None:
    session, comparisons, started = upgraded.call(
        ("GET", "sessions/tuesday", None),
        ("GET", "predictor/comparisons", None),
        ("POST", "sessions", {"session_key": "now", "context": "Mix celadon glaze", "k": 2}),
    )
    assert (session["injected"], session["judged_at"] is not None) == (3, True)
    assert [one["session_key"] for one in comparisons["results"]] == ["tuesday"]
    assert FACTS[4] in [memory["content"] for memory in started["memories"]]


def test_everything_can_be_exported_and_backed_up_again(
    upgraded: Installation, tmp_path: Path
) -> None:
    upgraded.done("export", "--all", str(tmp_path / "all.zip"))
    upgraded.done("backup", str(tmp_path / "backup.zip"))
    with zipfile.ZipFile(tmp_path / "backup.zip") as archive:
        manifest = json.loads(archive.read("manifest.json"))
    assert len(manifest["tables"]) > 69
    assert upgraded.manage("migrate", "--check").returncode == 0
