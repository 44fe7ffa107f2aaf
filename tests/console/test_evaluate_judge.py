"""`evaluate --judge` on a few sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from engram.kernel.models import Workspace

TALK = (
    "User: Certbot failed twice on staging, shall I force the renewal?\n"
    "Agent: No: the zone allows only Sectigo to issue certificates. Letsencrypt.org has to be "
    "added to the CAA record first, which only Ingrid can do.\n"
    "User: Asked her. She has added it.\n"
    "Agent: Then try it with a dry run first, and renew the certificate when that is green.\n"
)
ROWS: list[dict[str, Any]] = [
    {
        "id": "1",
        "context": "Renewing the certificate of staging",
        "transcript": TALK,
        "memories": [
            {"text": "Only Ingrid may edit the CAA record of the zone.", "relevance": 1.0},
            {"text": "A dry run comes before a certificate is renewed.", "relevance": 0.5},
            {"text": "Lunch is at noon in the Harbour building.", "relevance": 0.0},
            {"text": "The staging key is AKIAIOSFODNN7EXAMPLE, keep it.", "relevance": 0.0},
        ],
    },
    {"id": "2", "transcript": "…", "memories": [{"text": "Lunch is at noon.", "relevance": 0.0}]},
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "sessions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


@pytest.mark.django_db
def test_every_session_is_judged_and_scored(tmp_path: Path, path: Path) -> None:
    out, predictions = tmp_path / "out.json", tmp_path / "rows.jsonl"
    call_command("evaluate", judge=path, json=out, predictions=predictions)
    first, second = map(json.loads, predictions.read_text().splitlines())
    assert first.keys() == {"id", "relevance", "confidence", "contradicted"}
    assert (first["id"], len(first["relevance"]), len(second["relevance"])) == ("1", 4, 1)
    assert min(first["relevance"][:2]) > max(first["relevance"][2:])
    report = json.loads(out.read_text())
    assert report["metrics"]["auc"]["mean"] == 1.0
    assert report["metrics"]["auc"]["n"] == 1  # the other one has no pair
    assert report["metrics"]["sure"]["n"] == 2
    assert report["details"]["memories"] == 5
    assert not Workspace.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("change", "told"),
    [({"memories": []}, "memories"), ({"transcript": ""}, "transcript"), ({"id": "2"}, "once")],
)
def test_bad_rows_are_named(path: Path, change: dict[str, Any], told: str) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in (ROWS[0] | change, ROWS[1])))
    with pytest.raises(CommandError, match=told):
        call_command("evaluate", judge=path)
