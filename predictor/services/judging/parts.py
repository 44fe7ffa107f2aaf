"""Return what a judge read of a transcript, for people who check its ratings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from memories.models import Session
from predictor.core.excerpt import GAP
from predictor.core.judging import OFFLINE_CHARS, PROMPT_VERSION, model_part
from predictor.core.offline_judge import OFFLINE_VERSION
from predictor.core.talk import offline_part
from predictor.models import JudgeKind, Judgement
from predictor.services.judging.pool import JudgingPool, read_pools

WHOLE: Final = "The whole transcript, as the judge read it."
READ: Final = (
    "What the judge read of the transcript: its end, and the parts that share words with the"
    " memories it rated. […] marks what is left out."
)
CHANGED: Final = (
    "Chosen as the judge's part is chosen. It may have read another: the rules, or a memory it"
    " rated, have changed since. […] marks what is left out."
)
LIVED: Final = (
    "The rating is not from reading: who gave it took part in the session. Shown are its end and"
    " the parts that share words with the memories rated. […] marks what is left out."
)
WHOLE_CHANGED: Final = (
    "The whole transcript. The judge may have read a part of it: its rules have changed since."
)
LIVED_WHOLE: Final = "The whole transcript. Who gave the rating took part in the session."


@dataclass(frozen=True, slots=True)
class JudgedPart:
    """The part of a transcript that people read who rate what a judge rated.

    `is_as_judged` is whether the judge read exactly this; `words` say what it is, with no rating.
    """

    text: str
    is_as_judged: bool
    words: str


def read_parts(sessions: Sequence[Session]) -> dict[UUID, JudgedPart]:
    """Return what the judge read, by session, with the same queries for one and for many.

    Called inside the workspace; the sessions have their transcripts.
    """
    pools = read_pools(sessions)
    found = Judgement.objects.filter(session__in=pools).defer("raw").order_by()
    judged = {row.session_id: row for row in found}
    return {i: _part(pool, judged.get(i)) for i, pool in pools.items()}


def _part(pool: JudgingPool, judged: Judgement | None) -> JudgedPart:
    transcript, rated = pool.session.transcript, set(judged.memory_ids if judged else ())
    if judged is not None and judged.kind == JudgeKind.OFFLINE:
        first = [
            content
            for i, content in zip(pool.ids, pool.contents, strict=True)
            if pool.first is None or i in pool.first
        ]
        text = offline_part(first, transcript, gap=f" {GAP} ")
    else:
        own = [text for i, text in zip(pool.ids, pool.contents, strict=True) if i in rated]
        text = model_part(own, transcript)
    is_whole = text == transcript.strip()
    if judged is not None and judged.kind == JudgeKind.AGENT:
        return JudgedPart(text, is_as_judged=False, words=LIVED_WHOLE if is_whole else LIVED)
    is_current = judged is not None and judged.version in {PROMPT_VERSION, OFFLINE_VERSION}
    if is_whole:  # every version has read as much as `OFFLINE_CHARS`
        is_known = is_current or len(text) <= OFFLINE_CHARS
        return JudgedPart(text, is_known, WHOLE if is_known else WHOLE_CHANGED)
    is_known = is_current and rated.issubset(pool.ids)
    return JudgedPart(text, is_known, READ if is_known else CHANGED)
