"""Find the memories that answer the same questions as others, or questions near to theirs."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection

from engram.kernel.tenancy import current_workspace_id
from memories.models import MemoryAnswer
from memories.services.recallable import recallable_condition

# Answers of a workspace up to which all their vectors are compared: some 20 ms a question.
MAX_COMPARED: Final = 20_000
OF_A_QUESTION: Final = 100  # memories, the newest
NEAR_A_QUESTION: Final = 60

_ASKED = """
    asked AS MATERIALIZED (
        SELECT DISTINCT ON (question_hash) question_hash, embedding FROM memories_memoryanswer
        WHERE workspace_id = %(workspace)s AND memory_id = ANY(%(memories)s)
        ORDER BY question_hash
    )
"""
# Hidden memories are left out before the limits: a thousand of them displace none that is live.
_SAME = """
    WITH {asked} SELECT DISTINCT same.memory_id FROM asked, LATERAL (
        SELECT other.memory_id FROM memories_memoryanswer AS other
        JOIN memories_memory ON memories_memory.id = other.memory_id
        WHERE other.workspace_id = %(workspace)s AND other.question_hash = asked.question_hash
            AND {live}
        ORDER BY other.id DESC LIMIT %(most)s
    ) AS same
"""
_NEAR = """
    WITH {asked} SELECT DISTINCT near.memory_id FROM asked, LATERAL (
        SELECT other.memory_id, other.embedding <=> asked.embedding AS distance
        FROM memories_memoryanswer AS other
        JOIN memories_memory ON memories_memory.id = other.memory_id
        WHERE other.workspace_id = %(workspace)s AND other.model = %(model)s
            AND other.question_hash <> asked.question_hash AND {live}
        ORDER BY 2 LIMIT %(most)s
    ) AS near
    WHERE asked.embedding IS NOT NULL AND near.distance <= 1 - %(min_cosine)s
"""


def memories_of_near_questions(
    memory_ids: Collection[UUID], model: str, *, min_cosine: float, now: datetime
) -> set[UUID]:
    """Return the memories that answer the questions of others, or near ones.

    Where the workspace has more than `MAX_COMPARED` answers, only questions in the same words
    count: their number is bounded by an index, that of near ones is not.
    """
    live = recallable_condition(now)
    values: dict[str, Any] = {
        **live.parameters,
        "workspace": current_workspace_id(),
        "memories": list(memory_ids),
        "model": model,
        "min_cosine": min_cosine,
    }
    embedded = MemoryAnswer.objects.filter(model=model).order_by()[: MAX_COMPARED + 1]
    statements = [(_SAME, OF_A_QUESTION)]
    if embedded.count() <= MAX_COMPARED:
        statements.append((_NEAR, NEAR_A_QUESTION))
    found: set[UUID] = set()
    with connection.cursor() as cursor:
        for statement, most in statements:
            text = statement.format(asked=_ASKED, live=live.sql)
            cursor.execute(text, {**values, "most": most})
            found.update(row[0] for row in cursor.fetchall())
    return found
