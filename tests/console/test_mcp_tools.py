"""The tools of the Model Context Protocol: what they return to a model, and what they must not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from mcp import Client

from engram.kernel.actors import SYSTEM
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from memories.services.lifecycle import forget
from memories.services.lifecycle.erase import erase
from tests.conftest import Tenant, build_tenant, issue_agent
from tests.console.cards import NEW, OLD, QUESTION, disagree, remember
from tests.console.mcp_door import opened, refusal, said, thread

pytestmark = pytest.mark.django_db(transaction=True)
SECRET = "The harbour master hides the spare crane key below the third bollard."
QUERY = "where is the spare crane key?"


@pytest.fixture
def tenant(transactional_db: None) -> Tenant:
    return build_tenant("acme")


@pytest.fixture
def neighbour(transactional_db: None) -> Tenant:
    return build_tenant("zenith")


def _retire(tenant: Tenant, memory: Memory) -> None:
    with in_workspace(tenant.workspace):
        Memory.objects.filter(pk=memory.pk).update(retired_at=timezone.now())


def _expire(tenant: Tenant, memory: Memory) -> None:
    with in_workspace(tenant.workspace):
        Memory.objects.filter(pk=memory.pk).update(expires_at=timezone.now())


def _forget(tenant: Tenant, memory: Memory) -> None:
    forget.forget(tenant.workspace, [memory.pk], actor=SYSTEM, now=timezone.now())


def _erase(tenant: Tenant, memory: Memory) -> None:
    erase(tenant.workspace, memory.pk, actor=SYSTEM, now=timezone.now())


async def every_answer_about(client: Client, memory_id: str) -> str:
    """Return all that tools and resources say about a memory, as one text."""
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("recall", {"memory_id": memory_id}),
        ("recall", {"memory_id": memory_id, "query": QUERY}),
        ("recall", {"query": QUERY}),
        ("context", {"task": QUERY}),
        ("forget", {"query": QUERY, "min_relevance": 0}),
        ("forget", {"ids": [memory_id]}),
        ("questions", {"about": "known", "q": "crane"}),
        ("session", {"action": "start", "session_key": "run", "context": QUERY}),
        ("session", {"action": "prompt", "session_key": "run", "prompt": QUERY}),
    )
    answers = [str(await client.call_tool(name, arguments)) for name, arguments in calls]
    try:
        answers.append(str(await client.read_resource(f"engram://memories/{memory_id}")))
    except Exception as error:  # noqa: BLE001  what it says counts, too
        answers.append(str(error))
    answers.append(str(await client.get_prompt("brief", {"task": QUERY})))
    return "\n".join(answers)


@pytest.mark.parametrize("role", ["reader", "agent", "reviewer", "admin"])
@pytest.mark.parametrize(
    ("hide", "state"),
    [(_forget, "forgotten"), (_retire, "retired"), (_expire, "expired"), (_erase, "")],
)
async def test_no_answer_has_the_text_of_a_memory_that_is_not_recalled(
    tenant: Tenant, role: str, hide: Callable[..., None], state: str
) -> None:
    answers = [{"question": "Where is the spare crane key?", "answer": "below the third bollard"}]
    body = {"content": SECRET, "answers": answers}
    kept = (await thread(tenant.agent.post, "memories", body)).json()["memory"]
    memory = await thread(_memory, tenant, kept["id"])
    async with opened() as door, door.client(tenant.caller(role)) as client:
        assert "bollard" in await every_answer_about(client, kept["id"])  # it could leak
        await thread(hide, tenant, memory)
        assert "bollard" not in (text := await every_answer_about(client, kept["id"]))
    told = state if not (state == "forgotten" and role == "reader") else "no such memory"
    assert told in text


def _memory(tenant: Tenant, memory_id: str) -> Memory:
    with in_workspace(tenant.workspace):
        return Memory.objects.get(pk=memory_id)


async def test_another_workspace_is_like_nothing(tenant: Tenant, neighbour: Tenant) -> None:
    memory = await thread(remember, neighbour.workspace, SECRET)
    async with opened() as door, door.client(tenant.admin) as client:
        assert "bollard" not in await every_answer_about(client, str(memory.pk))
        theirs = refusal(await client.call_tool("recall", {"memory_id": str(memory.pk)}))
        unknown = refusal(await client.call_tool("recall", {"memory_id": str(uuid4())}))
        assert theirs == unknown == {"detail": "There is no such memory."}
        for name, arguments in (
            ("revise", {"memory_id": str(memory.pk), "content": "Gone."}),
            ("answer", {"memory_id": str(memory.pk), "other": str(uuid4()), "relation": "same"}),
        ):
            assert "no such" in refusal(await client.call_tool(name, arguments))["detail"].lower()
        gone = said(await client.call_tool("forget", {"ids": [str(memory.pk)], "confirm": True}))
        assert gone["forgotten"] == 0


async def test_remember_returns_what_is_worth_judging_and_answer_takes_it(tenant: Tenant) -> None:
    first = "Design reviews for the Halden checkout redesign are chaired by the platform guild."
    second = "The Halden checkout redesign has its design reviews chaired by Ingrid from payments."
    async with opened() as door, door.client(tenant.agent) as client:
        old = said(await client.call_tool("remember", {"content": first, "scope": "checkout"}))
        new = said(await client.call_tool("remember", {"content": second, "scope": "checkout"}))
        assert (old["outcome"], new["outcome"]) == ("created", "created")
        (ask,) = new["asks"]
        assert (ask["other"], ask["content"]) == (old["id"], first)
        assert "Halden" in ask["why"]
        (listed,) = said(await client.call_tool("questions", {"about": "asks"}))["results"]
        assert (listed["memory"]["id"], listed["other"]["id"]) == (new["id"], old["id"])
        replaced = {"memory_id": new["id"], "other": old["id"], "relation": "replaces"}
        done = said(await client.call_tool("answer", replaced))
        assert done["outcome"] == "replaced"
        assert said(await client.call_tool("questions", {"about": "asks"})) == {
            "results": [],
            "reason": "Nothing was asked that is not answered.",
        }


async def test_a_statement_without_answers_gets_a_hint_and_a_merged_one_its_wording(
    tenant: Tenant,
) -> None:
    plain = {"content": "Reviews of the quay plan went well on the whole, people said."}
    async with opened() as door, door.client(tenant.agent) as client:
        bare = said(await client.call_tool("remember", plain))
        assert "answers" in bare["hint"]
        again = said(await client.call_tool("remember", plain))
        assert (again["outcome"], again["content"]) == ("duplicate", plain["content"])
        answers = [{"question": "How did the reviews of the quay plan go?", "answer": "well"}]
        full = said(await client.call_tool("remember", {**plain, "answers": answers}))
        assert "hint" not in full


async def test_a_recalled_memory_has_what_a_model_needs_and_a_link_to_its_card(
    tenant: Tenant,
) -> None:
    _, newer, card = await thread(disagree, tenant.workspace)
    async with opened() as door, door.client(tenant.agent) as client:
        found = said(await client.call_tool("recall", {"query": "API rate limit"}))["results"]
    assert {one["content"] for one in found} == {OLD, NEW}
    (row,) = [one for one in found if one["id"] == str(newer.pk)]
    assert row.pop("relevance") > 0
    assert row == {
        "id": str(newer.pk),
        "content": NEW,
        "state": "active",
        "scope": "infra/api",
        "who": "coder",
        "when": f"{newer.observed_at:%Y-%m-%dT%H:%MZ}",
        "disputed": True,
        "conflicts": [str(card.pk)],
        "card": f"http://localhost:8000/console/conflicts/{card.pk}/",
    }


async def test_an_empty_answer_says_why(tenant: Tenant) -> None:
    async with opened() as door, door.client(tenant.agent) as client:
        for name, arguments in (
            ("recall", {"query": "anything"}),
            ("context", {"task": "anything"}),
            ("forget", {"query": "anything"}),
            *(("questions", {"about": about}) for about in ("conflicts", "known", "drift", "asks")),
        ):
            answer = said(await client.call_tool(name, arguments))
            assert answer["reason"], (name, arguments)


async def test_conflicts_are_listed_page_by_page_and_decided_by_reviewers(tenant: Tenant) -> None:
    _, newer, card = await thread(disagree, tenant.workspace)
    verdict = {"conflict_id": str(card.pk), "verdict": "yes", "version": 1}
    async with opened() as door, door.client(tenant.agent) as agent:
        page = said(await agent.call_tool("questions", {"limit": 1}))
        (shown,) = page["results"]
        assert (shown["question"], shown["yes_keeps"]) == (QUESTION, [str(newer.pk)])
        assert [one["content"] for one in shown["memories"]] == [OLD, NEW]
        assert "next" not in page
        one = said(await agent.call_tool("questions", {"id": str(card.pk)}))
        assert one == shown
        refused = refusal(await agent.call_tool("answer", verdict))
        assert "role reviewer" in refused["detail"]
    async with opened() as door, door.client(tenant.reviewer) as reviewer:
        stale = refusal(await reviewer.call_tool("answer", {**verdict, "version": 7}))
        assert "version" in stale["detail"]
        done = said(await reviewer.call_tool("answer", {**verdict, "version": shown["version"]}))
        assert (done["status"], done["verdict"]) == ("resolved", "yes")


async def test_the_cursor_of_an_answer_leads_to_the_next_page(tenant: Tenant) -> None:
    for day in range(1, 5):
        answers = [{"question": f"Who greases crane {day}?", "answer": "Ada"}]
        body = {"content": f"Ada greases crane {day}.", "answers": answers}
        assert (await thread(tenant.agent.post, "memories", body)).status_code == 201
    async with opened() as door, door.client(tenant.reader) as client:
        asked, known = {"about": "known", "limit": 3}, []
        page = said(await client.call_tool("questions", asked))
        known += page["results"]
        page = said(await client.call_tool("questions", {**asked, "cursor": page["next"]}))
        known += page["results"]
    assert "next" not in page
    assert len({one["question"] for one in known}) == 4


async def test_what_was_known_at_a_time_is_listed_and_shown(tenant: Tenant) -> None:
    for day, name in ((1, "Ada"), (20, "Ben")):
        answers = [{"question": "Who greases the crane?", "answer": name}]
        body = {"content": f"{name} greases the crane.", "answers": answers,
                "observed_at": f"2026-01-{day:02}T09:00:00Z"}  # fmt: skip
        assert (await thread(tenant.agent.post, "memories", body)).status_code == 201
    then = {"about": "known", "as_of": "2026-01-10T00:00:00Z"}
    async with opened() as door, door.client(tenant.reader) as client:
        (listed,) = said(await client.call_tool("questions", then))["results"]
        shown = said(await client.call_tool("questions", {**then, "id": listed["id"]}))
    assert (listed["answer"], shown["answer"]) == ("Ada", "Ada")


BAD: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("recall", {"memory_id": "asks"}, "memory_id"),
    ("recall", {"memory_id": "../keys"}, "memory_id"),
    ("recall", {"memory_id": str(uuid4()), "query": {"q": 1}}, "query"),
    ("recall", {"memory_id": str(uuid4()), "k": 3}, "k"),
    ("recall", {"qery": "x"}, "qery"),
    ("recall", {"query": ""}, "query"),
    ("recall", {"query": "x", "k": 0}, "k"),
    ("recall", {}, "query"),
    ("revise", {"content": "x"}, "memory_id"),
    ("revise", {"memory_id": str(uuid4()), "content": "x", "source": "g", "evidence": {}}, ""),
    ("forget", {}, ""),
    ("forget", {"restore": True}, "ids"),
    ("questions", {"about": "asks", "id": str(uuid4())}, "id"),
    ("questions", {"about": "conflicts", "id": "quality"}, "id"),
    ("questions", {"about": "known", "id": str(uuid4()), "q": "x"}, "id"),
    ("questions", {"about": "conflicts", "id": str(uuid4()), "as_of": "2026-01-10"}, "id"),
    ("questions", {"about": "conflicts", "as_of": "2026-01-10"}, "as_of"),
    ("questions", {"about": "weather"}, "about"),
    ("questions", {"about": ["known"]}, "about"),
    ("questions", {"q": ["a", "b"], "about": "known"}, "q"),
    ("answer", {"relation": "same"}, "exactly one"),
    ("answer", {"memory_id": str(uuid4()), "conflict_id": str(uuid4())}, "exactly one"),
    ("answer", {"conflict_id": 7, "verdict": "yes"}, "conflict_id"),
    ("session", {"session_key": "x"}, "action"),
    ("session", {"action": ["start"], "session_key": "x"}, "action"),
    ("session", {"action": "end"}, "session_key"),
    ("session", {"action": "prompt", "session_key": 7, "prompt": "x"}, "session_key"),
    ("remember", {"content": "The password: hunter2hunter2"}, "password"),
    ("context", {"task": ["x"]}, "task"),
)


async def test_wrong_arguments_are_errors_of_the_tool_that_name_them(tenant: Tenant) -> None:
    async with opened() as door, door.client(tenant.admin) as client:
        for name, arguments, told in BAD:
            answer = refusal(await client.call_tool(name, arguments))
            assert told in answer["detail"], (name, arguments, answer)
            assert answer["detail"]


async def test_a_reader_reads_and_an_agent_does_not_decide(tenant: Tenant) -> None:
    async with opened() as door, door.client(tenant.reader) as reader:
        for name, arguments in (
            ("remember", {"content": "The quay is closed on Mondays."}),
            ("forget", {"query": "quay", "confirm": True}),
            ("session", {"action": "start", "session_key": "x"}),
        ):
            refused = refusal(await reader.call_tool(name, arguments))
            assert refused["detail"] == "This needs the role agent; yours is reader."
        assert said(await reader.call_tool("recall", {"query": "quay"}))["results"] == []


async def test_what_waits_for_a_reviewer_is_said_to_wait(tenant: Tenant) -> None:
    body = {"content": "Nobody deploys on Fridays.", "provenance": "user_stated"}
    memory = (await thread(tenant.reviewer.post, "memories", body)).json()["memory"]
    plain = await thread(issue_agent, tenant.workspace)
    async with opened() as door, door.client(plain) as client:
        change = {"memory_id": memory["id"], "content": "Nobody deploys on Mondays."}
        waits = said(await client.call_tool("revise", change))
        assert (waits["status"], set(waits)) == ("pending", {"status", "review"})
        hidden = said(await client.call_tool("forget", {"ids": [memory["id"]], "confirm": True}))
        assert hidden["status"] == "pending"


async def test_a_session_key_of_any_letters_leads_to_its_session(tenant: Tenant) -> None:
    key = "shift 1/kiln%2F?#é"
    async with opened() as door, door.client(tenant.agent) as client:
        for name, arguments in (
            ("remember", {"content": "The kiln fires at 1240 degrees."}),
            ("session", {"action": "start", "session_key": key, "context": "the kiln"}),
            ("session", {"action": "prompt", "session_key": key, "prompt": "kiln degrees"}),
            ("session", {"action": "end", "session_key": key, "transcript": "User: the kiln."}),
        ):
            answer = said(await client.call_tool(name, arguments))
        assert answer["session_key"] == key


async def test_the_end_takes_what_a_model_used_and_what_was_wrong(tenant: Tenant) -> None:
    async with opened() as door, door.client(tenant.agent) as client:
        told = {"content": "The kiln fires at 1240 degrees."}
        memory = said(await client.call_tool("remember", told))["id"]
        run = {"session_key": "run", "context": "At how many degrees does the kiln fire?"}
        started = said(await client.call_tool("session", {"action": "start", **run}))
        assert started["memory_ids"] == [memory]
        assert "`used`" in started["at_end"]
        end = {"action": "end", "session_key": "run", "missing": ["Who fires the kiln?"]}
        other = await client.call_tool("session", end | {"used": {str(uuid4()): 1}})
        assert other.is_error
        wrong = [{"memory": memory, "reason": "1260 since May"}]
        done = await client.call_tool("session", end | {"used": {memory: 0.2}, "wrong": wrong})
        assert said(done)["session_key"] == "run"
        drift = said(await client.call_tool("questions", {"about": "drift"}))
        assert "1260 since May" in str(drift)


async def test_prompts_and_resources_show_the_brief_and_the_open_questions(tenant: Tenant) -> None:
    _, newer, card = await thread(disagree, tenant.workspace)
    await thread(_put, tenant, "work/rate limits.md", "# Limits\n\nSee the gateway.")
    link = f"http://localhost:8000/console/conflicts/{card.pk}/"
    async with opened() as door, door.client(tenant.agent) as client:
        names = [prompt.name for prompt in (await client.list_prompts()).prompts]
        assert names == ["brief", "open_questions"]
        asked = str((await client.get_prompt("open_questions", {})).messages)
        assert QUESTION in asked
        assert link in asked
        brief = {"task": "What is the API rate limit?", "session_key": "run-1"}
        assert NEW in str((await client.get_prompt("brief", brief)).messages)
        uris = [one.uri for one in (await client.list_resources()).resources]
        assert uris == ["engram://questions/open", "engram://notes/work/rate%20limits.md"]
        for uri, text in (
            (uris[0], link),
            (uris[1], "See the gateway."),
            (f"engram://memories/{newer.pk}", NEW),
            ("engram://sessions/run-1", NEW),
        ):
            assert text in (await client.read_resource(uri)).contents[0].text  # type: ignore[union-attr]


def _put(tenant: Tenant, path: str, content: str) -> None:
    answer = tenant.agent._send("put", f"notes/{path}", {"content": content}, {})
    assert answer.status_code == 201


async def test_prompts_and_resources_that_are_not_there_are_errors_of_the_protocol(
    tenant: Tenant,
) -> None:
    async with opened() as door, door.client(tenant.agent) as client:
        for uri in (
            f"engram://memories/{uuid4()}",
            "engram://memories/asks",
            "engram://notes/none.md",
            "engram://sessions/none",
            "engram://questions/closed",
            "engram://weather/today",
            "https://example.com/questions/open",
            "engram://notes/",
            "x",
        ):
            with pytest.raises(Exception, match=r"no|only|Must"):
                await client.read_resource(uri)
        for name, arguments in (("brief", {}), ("weather", {}), ("brief", {"taks": "x"})):
            with pytest.raises(Exception, match=r"required|no prompt|no such"):
                await client.get_prompt(name, arguments)
