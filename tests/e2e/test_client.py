"""The Python client, its example and the snippets of its README, with a running service."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from engram_client import AsyncEngram, Engram, errors
from examples import agent_loop

from tests.e2e.service import Service
from tests.homes import PATIENCE_SECONDS, SOURCE

CLIENT = SOURCE / "clients" / "python"


@pytest.fixture
def engram(service: Service) -> Iterator[Engram]:
    """Return a client with an agent's key."""
    with Engram(service.up.url, service.tokens["agent"]) as client:
        yield client


def test_what_is_committed_is_recalled(engram: Engram, subject: str) -> None:
    answer = engram.memories.commit(
        f"The {subject} is opened by Ingrid at eight.",
        scope=subject,
        answers=[{"question": f"Who opens the {subject}?", "answer": "Ingrid"}],
    )
    assert "outcome" in answer
    assert answer["outcome"] == "created"
    results = engram.recall(f"who opens the {subject}?", k=3, explain=True)["results"]
    assert answer["memory"] is not None
    assert results[0]["memory"]["id"] == answer["memory"]["id"]
    assert [m["content"] for m in engram.memories.list(scope=subject, limit=1)] == [
        f"The {subject} is opened by Ingrid at eight."
    ]


def test_the_same_key_writes_once(engram: Engram, subject: str) -> None:
    said = [
        engram.memories.commit(f"The {subject} has 12 rooms.", idempotency_key=subject)
        for _ in range(2)
    ]
    assert said[0] == said[1]
    with pytest.raises(errors.ConflictError) as refused:
        engram.memories.commit(f"The {subject} has 13 rooms.", idempotency_key=subject)
    assert refused.value.cause == "idempotency-key-reused"


def test_a_list_of_several_pages_is_read_to_its_end(engram: Engram, subject: str) -> None:
    statements = [
        f"Shelf {n} of the {subject} holds {word}." for n, word in enumerate(("tea", "rope", "ink"))
    ]
    engram.memories.commit_batch([{"content": s, "scope": subject} for s in statements])
    found = engram.memories.list(scope=subject, limit=1)
    assert sorted(memory["content"] for memory in found) == statements
    assert [len(page["results"]) for page in found.pages()] == [1, 1, 1]


def test_names_with_slashes_and_umlauts_arrive(engram: Engram, subject: str) -> None:
    key = f"{subject}/früh & spät?#"
    engram.sessions.start(key, context="An early shift.")
    assert engram.sessions.prompt(key, "What is to do?")["session_key"] == key
    assert engram.sessions.get(key)["session_key"] == key
    path = f"{subject}/Öffnung 50 %.md"
    engram.notes.put(path, "# Opening\n\nAt eight.")
    assert engram.notes.get(path)["path"] == path
    assert engram.notes.delete(path) is None
    with pytest.raises(errors.NotFoundError):
        engram.notes.get(path)


def test_refusals_are_exceptions(service: Service, engram: Engram) -> None:
    with pytest.raises(errors.InvalidError) as refused:
        engram.recall("tea", k=1000)
    assert [e["field"] for e in refused.value.errors] == ["k"]
    with pytest.raises(errors.NotAllowedError):
        engram.keys.create("another", role="agent")
    with pytest.raises(errors.NotAuthenticatedError), Engram(service.up.url, "egr_no") as nobody:
        nobody.pipeline_status()


async def test_the_asynchronous_client_does_the_same(service: Service, subject: str) -> None:
    async with AsyncEngram(service.up.url, service.tokens["agent"]) as engram:
        for name in ("east", "west"):
            await engram.memories.commit(f"The {name} {subject} gate is blue.", scope=subject)
        found = [m["content"] async for m in engram.memories.list(scope=subject, limit=1)]
        assert len(found) == 2
        assert (await engram.recall(f"east {subject} gate", scope=subject))["results"]


def test_the_agent_of_the_example_remembers(engram: Engram, subject: str) -> None:
    known: list[str] = []

    def answer(given: str, prompt: str) -> str:
        known.append(given)
        return f"Noted: {prompt}"

    fact = f"The {subject} is painted by Oskar in March."
    agent_loop.hold(engram, [f"Remember: {fact}"], answer)
    session = agent_loop.hold(engram, [f"Who paints the {subject}?", "And when?"], answer)
    assert fact not in known[0]
    assert fact in known[1]
    assert engram.sessions.get(session)["state"] == "ended"


def test_the_example_is_a_program(service: Service, subject: str) -> None:
    printed = [
        subprocess.run(
            [sys.executable, str(CLIENT / "examples" / "agent_loop.py")],
            env=os.environ
            | {
                "ENGRAM_URL": service.up.url,
                "ENGRAM_KEY": service.tokens["agent"],
                "PYTHONPATH": str(CLIENT / "src"),
            },
            input=f"{line}\n",
            check=True,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        ).stdout
        for line in (f"Remember: The {subject} has 9 doors.", f"How many doors has the {subject}?")
    ]
    assert f"> The {subject} has 9 doors." not in printed[0]
    assert f"> The {subject} has 9 doors." in printed[1]


def test_the_readme_s_code_runs(service: Service) -> None:
    text = (CLIENT / "README.md").read_text(encoding="utf-8")
    snippets = re.findall(r"```python\n(.*?)```", text, re.S)
    printed = []
    for snippet in snippets:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", snippet],
            env=os.environ
            | {
                "ENGRAM_URL": service.up.url,
                "ENGRAM_KEY": service.tokens["agent"],
                "PYTHONPATH": str(CLIENT / "src"),
            },
            check=False,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    assert "Refunds above 500 EUR need two signatures." in printed[0]
    assert "Refunds above 500 EUR need two signatures." in printed[1]
    assert printed[2].startswith("credential ")
    assert "Refunds above 500 EUR need two signatures." in printed[3]
    assert printed[4] == "Ana drinks green tea at four.\n"
