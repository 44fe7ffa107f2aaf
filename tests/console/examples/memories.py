"""Memories: committed, merged, revised, recalled, forgotten; what waits for a person."""

from __future__ import annotations

from memories.services.recall.log import sweep
from tests.console.examples.story import Story

UNUSED = (
    "The lift in building seven stops at odd floors only.",
    "Marble from Carrara arrives in wooden crates.",
)


def commit_unused(story: Story) -> None:
    """Commit what nobody will ask for."""
    for content in UNUSED:
        story.commit(content, scope="office")


def record_memories(story: Story) -> None:
    """Send the calls about memories."""
    _commit(story)
    _read(story)
    _ask_people(story)
    _merge(story)
    _forget(story)


def _commit(story: Story) -> None:
    send, agent = story.send, story.agent
    fact = {
        "content": "The billing service runs on PostgreSQL 17.",
        "scope": "infra/billing",
        "tags": ["database"],
        "source": "https://git.example.com/billing/compose.yaml",
    }
    runs = {"question": "What does the billing service run on?", "answer": "PostgreSQL 17"}
    answered = fact | {"answers": [runs]}
    first = send(agent, "POST /memories", answered, summary="A new statement", status=201)
    send(agent, "POST /memories", fact, summary="The same statement again")
    story.commit("The billing deploy runs on Thursday.", scope="infra/billing")
    finer = fact | {"content": "The billing deploy runs on Thursday at 14:00 UTC."}
    send(agent, "POST /memories", finer, summary="A finer wording of a statement: merged")
    other = fact | {"content": "The billing service runs on PostgreSQL 15."}
    send(agent, "POST /memories", other, summary="A contradiction: kept apart", status=201)
    guild = "Design reviews for the Halden checkout redesign are chaired by the platform guild."
    ingrid = "The Halden checkout redesign has its design reviews chaired by Ingrid from payments."
    old = story.commit(guild, scope="checkout")
    new = send(
        agent, "POST /memories", {"content": ingrid, "scope": "checkout"},
        summary="Something nearby that no rule can judge", status=201,
    )  # fmt: skip
    assert [asked["id"] for asked in new["nearby"]] == [old]
    send(agent, "GET /memories/asks", summary="What commits of this key asked, not answered yet")
    judged = {"other": old, "relation": "contradicts", "reason": "Ingrid took over in May."}
    send(
        agent, "POST /memories/{memory_id}/relations", judged,
        summary="The two contradict each other", status=201,
        memory_id=new["memory"]["id"],
    )  # fmt: skip
    friday = story.commit("The billing freeze begins on Friday.", scope="billing/freeze")
    monday = story.commit("The billing freeze was moved to Monday.", scope="billing/plan")
    send(
        agent, "POST /memories/{memory_id}/relations", {"other": friday, "relation": "replaces"},
        summary="The newer one says what changed", status=201, memory_id=monday,
    )  # fmt: skip
    batch = {
        "memories": [
            {"content": "Refunds need the approval of the shift lead.", "scope": "billing"},
            {"content": "Invoices are sent on the first of the month.", "scope": "billing"},
        ]
    }
    send(agent, "POST /memories/batch", batch, summary="Two statements at once", status=201)
    change = {"content": "The billing service runs on PostgreSQL 17.2 in Frankfurt."}
    send(
        agent, "PATCH /memories/{memory_id}", change, summary="A better wording",
        memory_id=first["memory"]["id"],
    )  # fmt: skip


def _read(story: Story) -> None:
    send = story.send
    query = {"scope": "billing", "limit": 2}
    listed = send(story.reader, "GET /memories", query=query, summary="Memories of a scope")
    memory_id = listed["results"][0]["id"]
    send(story.reader, "GET /memories/{memory_id}", summary="One memory", memory_id=memory_id)
    send(
        story.reader, "GET /memories/{memory_id}/history", summary="What happened to a memory",
        query={"limit": 3}, memory_id=memory_id,
    )  # fmt: skip
    wanted = {"query": "Who approves a refund?", "k": 2, "explain": True}
    found = send(
        story.reader, "POST /memories/recall", wanted, summary="A question, with its scores"
    )
    sweep()
    send(
        story.reader, "GET /memories/{memory_id}/recalls", query={"limit": 1},
        summary="Which recalls returned a memory, and why",
        memory_id=found["results"][0]["memory"]["id"],
    )  # fmt: skip
    send(
        story.reader, "GET /memories/{memory_id}/why-not", summary="Why a memory was not recalled",
        query={"query": "Who approves a refund?", "k": 1, "graph": "true"}, memory_id=memory_id,
    )  # fmt: skip


def _ask_people(story: Story) -> None:
    """An agent claims more than its key allows: it waits for a reviewer."""
    send, agent, reviewer = story.send, story.agent, story.reviewer
    said = {"content": "Nobody deploys on Fridays.", "kind": "constraint", "scope": "deploys"}
    rule = send(reviewer, "POST /memories", said, status=201)["memory"]["id"]
    claimed = {"content": "Demos are held on Tuesday.", "provenance": "user_stated"}
    asked = send(
        agent, "POST /memories", claimed, summary="A claim that waits for a person", status=202
    )
    changed = send(
        agent, "PATCH /memories/{memory_id}", {"content": "Nobody deploys on Mondays."},
        summary="A change of a person's words: it waits for a reviewer", status=202,
        memory_id=rule,
    )  # fmt: skip
    newer = story.commit("Since May deploys go out on Fridays, too.", scope="deploys/calendar")
    send(
        agent, "POST /memories/{memory_id}/relations", {"other": rule, "relation": "replaces"},
        summary="It would replace a person's words: it waits for a reviewer", status=202,
        memory_id=newer,
    )  # fmt: skip
    send(agent, "GET /reviews", query={"limit": 1}, summary="What waits for a reviewer")
    send(agent, "GET /reviews/{review_id}", summary="One review", review_id=asked["review"])
    send(
        reviewer, "POST /reviews/{review_id}/accept", {"note": "Yes, we said so."},
        summary="Let it be done", review_id=asked["review"],
    )  # fmt: skip
    send(
        reviewer, "POST /reviews/{review_id}/reject", {"note": "Fridays stay as they are."},
        summary="Let it not be done", review_id=changed["review"],
    )  # fmt: skip
    send(
        agent, "POST /memories/forget", {"ids": [rule], "confirm": True},
        summary="A person's words: forgetting waits for a reviewer", status=202,
    )  # fmt: skip
    hidden = send(reviewer, "POST /memories", {"content": "The safe opens at noon."}, status=201)
    ids = {"ids": [hidden["memory"]["id"]]}
    send(reviewer, "POST /memories/forget", ids | {"confirm": True})
    send(
        agent, "POST /memories/restore", ids,
        summary="What a person forgot: bringing it back waits for a reviewer", status=202,
    )  # fmt: skip


def _merge(story: Story) -> None:
    send, reviewer = story.send, story.reviewer
    pairs = (
        ("The deploy runs on Thursday.", "The deploy runs on Thursday at 14:00 UTC."),
        ("The pantry is cleaned on Monday.", "The pantry is cleaned on Monday at 08:00 UTC."),
    )
    for plain, finer in pairs:
        story.commit(plain, story.host, provenance="user_stated", scope="routine")
        story.commit(finer, scope="routine")
    query = {"status": "open", "limit": 1}
    listed = send(
        story.reader, "GET /merge-suggestions", query=query, summary="What may be the same"
    )
    send(
        story.reader, "GET /merge-suggestions/{suggestion_id}",
        summary="What each wording would leave unsaid",
        suggestion_id=listed["results"][0]["id"],
    )  # fmt: skip
    send(
        reviewer, "POST /merge-suggestions/{suggestion_id}/accept",
        {"keep": listed["results"][0]["memories"][0]["id"]},
        summary="Merge them, and keep the first wording",
        suggestion_id=listed["results"][0]["id"],
    )  # fmt: skip
    left = send(story.reader, "GET /merge-suggestions", query=query)["results"][0]
    send(
        reviewer, "POST /merge-suggestions/{suggestion_id}/reject",
        summary="They are not the same", suggestion_id=left["id"],
    )  # fmt: skip
    merges = send(reviewer, "GET /gate/audit", query={"limit": 1}, summary="Merges to judge")
    send(
        reviewer, "POST /gate/audit/{merge_id}", {"correct": True},
        summary="The merge was right", merge_id=merges["results"][0]["id"],
    )  # fmt: skip
    send(story.reader, "GET /gate/metrics", query={"weeks": 1}, summary="What the gate did")
    send(
        reviewer, "POST /gate/audit/{merge_id}/undo",
        summary="Undo the judgement", merge_id=merges["results"][0]["id"],
    )  # fmt: skip
    plain = story.commit("The ledger backup runs on Sunday.", scope="backups")
    finer = send(
        story.agent, "POST /memories",
        {"content": "The ledger backup runs on Sunday at 02:00 UTC.", "scope": "backups"},
    )  # fmt: skip
    assert finer["outcome"] == "merged"
    entries = send(story.reader, "GET /memories/{memory_id}/history", memory_id=plain)["results"]
    [observation] = [
        entry["data"]["merged"] for entry in entries if entry["type"] == "memory.merged"
    ]
    send(
        story.agent, "POST /memories/{memory_id}/split", {"observation_id": observation},
        summary="Undo a merge", memory_id=plain,
    )  # fmt: skip


def _forget(story: Story) -> None:
    send, agent = story.send, story.agent
    gone = story.commit("The staging password is changed every week.", scope="staging")
    wanted = {"query": "staging password", "scope": "staging"}
    send(agent, "POST /memories/forget", wanted, summary="A preview, which changes nothing")
    ids = {"ids": [gone]}
    send(agent, "POST /memories/forget", ids | {"confirm": True}, summary="Forget by id")
    send(agent, "POST /memories/restore", ids, summary="Bring back what was forgotten")
    since = story.clock.now().isoformat()
    story.commit("The crane in dock nine is yellow.", agent="import-bot", scope="import")
    written = {"agent": "import-bot", "since": since}
    send(story.admin, "POST /memories/rollback", written, summary="What a roll-back would do")
    send(
        story.admin, "POST /memories/rollback", written | {"confirm": True},
        summary="Forget what a writer wrote",
    )  # fmt: skip
    send(
        story.admin, "DELETE /memories/{memory_id}", summary="Erase for good", status=204,
        memory_id=gone,
    )  # fmt: skip
