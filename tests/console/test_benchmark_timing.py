"""A timing benchmark writes what was measured, and when."""

import json
from datetime import datetime
from pathlib import Path

import pytest
from django.conf import settings

from benchmarks.ground.timing import report
from engram.console.evaluation.provenance import git_head


def test_a_report_of_timings_names_its_commit_and_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report("recall", {"100 memories": {"p50_ms": 1.5}}, tmp_path / "out.json")
    written = (tmp_path / "out.json").read_text()
    assert written in capsys.readouterr().out
    found = json.loads(written)
    assert found["rows"] == {"100 memories": {"p50_ms": 1.5}}
    assert found["git"] == git_head(Path(settings.BASE_DIR))
    assert datetime.fromisoformat(found["at"]).tzinfo is not None
