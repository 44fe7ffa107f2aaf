"""Every curl command of the documents, run in order by bash against a running product."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from tests.documented import blocks
from tests.e2e.service import Service
from tests.homes import PATIENCE_SECONDS

pytestmark = pytest.mark.skipif(
    shutil.which("curl") is None, reason="NOT RUN: there is no curl (apt-get install curl)"
)

# A refused request ends the script, and its answer is shown.
PREFACE = f"""
set -euo pipefail
curl() {{ command curl --fail-with-body --max-time {PATIENCE_SECONDS} "$@"; echo; }}
"""
# What readers are told to set, and the test sets itself.
SETTING = re.compile(r"^(?:URL=http://127\.0\.0\.1:8000|KEY=egr_…)$", re.MULTILINE)
PLACEHOLDER = "egr_…"


def calls(document: str) -> list[str]:
    """Return the blocks of a document that have curl commands."""
    return [block.text for block in blocks(document) if "curl -" in block.text]


def run(service: Service, script: str, **known: str) -> str:
    """Run a block by bash; return what it printed."""
    url = service.up.url
    script = SETTING.sub("", script).replace("http://127.0.0.1:8000", url)
    script = script.replace(PLACEHOLDER, service.tokens["agent"])
    done = subprocess.run(
        ["bash", "-c", PREFACE + script],
        env=os.environ
        | {"URL": url, "KEY": service.tokens["admin"], "ADMIN_KEY": service.tokens["admin"]}
        | known,
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def answers(printed: str) -> list[Any]:
    """Return the answers of a block's commands, one a line."""
    return [json.loads(line) for line in printed.splitlines() if line.strip()]


def test_the_first_session_of_the_readme_runs_as_it_is_told(
    service_of: Callable[[str], Service],
) -> None:
    service = service_of("documented-readme")
    first, questions, sessions, notes = calls("README.md")
    stored, recalled, rival, conflicts = answers(run(service, first))
    assert stored["outcome"] == "created"
    found = [one["memory"]["content"] for one in recalled["results"]]
    assert found == ["The billing service runs on PostgreSQL 17."]
    assert rival["memory"]["content"] == "The billing service runs on PostgreSQL 15."
    [card] = conflicts["results"]
    assert card["status"] == "open"
    assert {one["content"] for one in card["memories"]} == {
        stored["memory"]["content"], rival["memory"]["content"]
    }  # fmt: skip
    _, known = answers(run(service, questions))
    assert [one["answer"] for one in known["results"]] == ["the support lead"]
    start, _prompt, end, status = answers(run(service, sessions))
    assert start["session_key"] == "monday"
    assert len(start["memories"]) >= 1
    assert end["session_key"] == "monday"
    assert status["mode"] == "on"
    *_, context, errors = answers(run(service, notes))
    assert "Shoes can be returned within 30 days" in context["text"]
    assert [one["error_type"] for one in errors["results"]] == ["memory_drift"]


def test_the_calls_of_the_guide_for_agents_run(service_of: Callable[[str], Service]) -> None:
    service = service_of("documented-agents")
    for content in (
        "Overdue invoices get a reminder after 14 days.",
        "The overdue invoices of April are sent by the billing team.",
    ):
        service.call("admin", "memories", {"content": content, "project": "billing"})
    known: dict[str, str] = {"KEY": service.tokens["agent"]}
    given: list[Any] = []
    for script in calls("docs/agents.md"):
        printed = run(service, script, **known)
        if "ETAG=" in script:
            continue
        given = answers(printed)
        if script.startswith("curl -s $URL/api/v1/sessions "):
            ids = [one["id"] for one in given[0]["memories"]]
            known |= dict(zip(("ID", "OTHER"), ids[:2], strict=True))
        elif "guild" in script and "relations" not in script:
            ids = [one["memory"]["id"] for one in given]
            known |= {"OTHER": ids[0], "YOURS": ids[1]}
            assert [one["id"] for one in given[1]["nearby"]] == [ids[0]]
        elif "ID" not in known:
            memories = service.call("agent", "memories?limit=1")[1]["results"]
            known["ID"] = memories[0]["id"]


def test_the_calls_of_mcp_and_webhooks_run(service_of: Callable[[str], Service]) -> None:
    service = service_of("documented-others")
    [listed] = answers(run(service, calls("docs/mcp.md")[0]))
    assert len(listed["result"]["tools"]) == 8
    [made] = answers(run(service, calls("docs/webhooks.md")[0]))
    assert made["secret"].startswith("whsec_")
