"""Memories that disagree, and the card that asks about them."""

from __future__ import annotations

from datetime import UTC, datetime

from django.utils import timezone

from conflicts.core.comparisons import Comparisons
from conflicts.core.facts import Finding
from conflicts.models import Conflict
from conflicts.services.cards.file import file_findings
from engram.kernel.actors import SYSTEM
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from memories.services.commit.commit import commit
from memories.services.commit.draft import Draft

OLD = "The API rate limit is 1000 requests per second."
NEW = "The API rate limit is 5000 requests per second."
QUESTION = "Is the API rate limit 5000 requests per second?"


def remember(workspace: Workspace, content: str, day: int = 1, **fields: str) -> Memory:
    """Commit a memory, learned on a day of January."""
    draft = Draft(content=content, observed_at=datetime(2026, 1, day, tzinfo=UTC), **fields)  # type: ignore[arg-type]
    memory = commit(workspace, draft, actor=SYSTEM, now=timezone.now()).memory
    assert memory is not None
    return memory


def ask(
    workspace: Workspace,
    memories: list[Memory],
    *,
    yes: Memory,
    question: str = QUESTION,
    severity: str = "medium",
    rule: str = "ambiguity.number",
) -> Conflict:
    """Open a card about memories, oldest first."""
    finding = Finding(
        kind="ambiguity",
        fact_ids=tuple(str(memory.id) for memory in memories),
        yes_keeps=(str(yes.id),),
        question=question,
        reasoning="Two numbers differ.",
        severity=severity,  # type: ignore[arg-type]
        confidence=0.9,
        suggestion="yes",
        rules=(rule,),
    )
    with in_workspace(workspace):
        filed = file_findings([finding], Comparisons(), detected_by="rules", now=timezone.now())
        return Conflict.objects.get(pk=filed.cards[0])


def disagree(workspace: Workspace) -> tuple[Memory, Memory, Conflict]:
    """Commit two memories that disagree; the newer one says yes."""
    old = remember(workspace, OLD, 1, scope="infra/api", agent="planner")
    new = remember(workspace, NEW, 20, scope="infra/api", agent="coder")
    return old, new, ask(workspace, [old, new], yes=new)


def state(workspace: Workspace, memory: Memory) -> str:
    """Return what became of a memory."""
    with in_workspace(workspace):
        return str(Memory.objects.get(pk=memory.pk).state())


def status(workspace: Workspace, card: Conflict) -> str:
    """Return where a card stands."""
    with in_workspace(workspace):
        return Conflict.objects.get(pk=card.pk).status
