"""Recall for a session: the scores of memories for its context, by the search of `recall`.

The steps are those of a recall, without a cut, diversity and pins that lead: a session gives its
own pins and constraints, and lowers repetitions itself.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from engram.kernel.embedding import QueryReading
from engram.kernel.models import Workspace
from engram.kernel.plain_sql import Selection
from memories.models import Memory
from memories.services.recall.links import LinkReader
from memories.services.recall.pool import WordMatches, gather
from memories.services.recall.query import Query
from memories.services.recall.rank import RankRequest, rank
from memories.services.recall.recall import uses_graph


def recall_context(
    workspace: Workspace,
    context: str,
    reading: QueryReading | None,
    recallable: Selection[Memory],
    words: WordMatches,
    *,
    now: datetime,
) -> dict[UUID, float]:
    """Return the scores of what a recall of the context finds, best first, without a cut.

    Parameters
    ----------
    reading : the embedding of the context; None when it could not be embedded: words alone count.
    recallable : the memories to choose from.
    words : those that match the words of the context.
    """
    query = Query(context, min_score=None, is_recorded=False)
    vector = None if reading is None else reading.vector
    model = workspace.embedding_model
    pool = gather(recallable, vector, model, words)
    links = None
    if uses_graph(workspace, query):
        links = LinkReader(recallable.condition, memories=pool.vocabulary.memories, now=now)
    request = RankRequest(query, reading, model, workspace.config, now, lowers_repetitions=False)
    return {one.id: one.score for one in rank(request, pool, links=links)}
