"""Every curl command of the documents, run in order by bash against a running product."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.documented import blocks
from tests.e2e.service import Service
from tests.homes import ENVIRONMENT, PATIENCE_SECONDS, SOURCE, eventually

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
# A reader waits two seconds; a busy machine needs longer, so the test waits for what is to come.
SLEEP = re.compile(r"^sleep \d+$\n", re.MULTILINE)
# Prints how many links from memories to notes are not checked yet.
_UNCHECKED = """
import sys
from engram import embedded
embedded.export_environment()
import django
django.setup()
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import NoteSupport
from memories.services.drift.due import select_due
with in_workspace(Workspace.objects.get(slug=sys.argv[1])):
    print(select_due().count() or not NoteSupport.objects.exists())
"""


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


def run_in_parts(service: Service, script: str, *waits: Callable[[], object]) -> str:
    """Run a block; where it sleeps, wait until a condition holds."""
    first, *parts = SLEEP.split(script)
    printed = [run(service, first)]
    for is_there, part in zip(waits, parts, strict=True):
        assert eventually(lambda is_there=is_there: bool(is_there()))
        printed.append(run(service, part))
    return "".join(printed)


def are_links_checked(service: Service, slug: str) -> bool:
    """Return whether every link of the workspace's memories was compared with its note."""
    done = subprocess.run(
        [sys.executable, "-c", _UNCHECKED, slug],
        cwd=SOURCE,
        env=ENVIRONMENT
        | {"ENGRAM_HOME": str(service.up.home), "DJANGO_SETTINGS_MODULE": "engram.settings"},
        check=True,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    return done.stdout.strip() in {"0", "False"}


def answers(printed: str) -> list[Any]:
    """Return the answers of a block's commands, one a line."""
    return [json.loads(line) for line in printed.splitlines() if line.strip()]


def test_the_first_session_of_the_readme_runs_as_it_is_told(
    service_of: Callable[[str], Service],
) -> None:
    service = service_of("documented-readme")
    first, questions, sessions, notes = calls("README.md")
    stored, recalled, rival, conflicts = answers(run_in_parts(service, first, service.open_cards))
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
    printed = run_in_parts(
        service,
        notes,
        lambda: are_links_checked(service, "documented-readme"),
        lambda: service.call("admin", "prediction-errors")[1]["total"],
    )
    *_, context, errors = answers(printed)
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
