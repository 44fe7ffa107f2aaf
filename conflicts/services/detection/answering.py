"""Ask a language model what memories answer, and queue them for the rules again.

One call for a run of statements. Its answers, the note that they were asked for, and the due rows
are written in one transaction: a killed runner asks again, and nothing is asked twice otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from itertools import accumulate
from typing import Final
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from conflicts.models import DetectionDue, DetectionRun, Narrative
from conflicts.services.detection.ask_model import BeyondCapError
from conflicts.services.detection.detect import Clock
from conflicts.services.detection.put_off import put_off_capped
from conflicts.services.due import note_written
from engram.kernel import llm, spend
from engram.kernel.lease import Renewal
from engram.kernel.llm import ChatMessage, MalformedError, ModelError, RefusedError, Usage
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace, release_connection
from memories.core.accepted_answers import accept_answers
from memories.core.answer_prompt import line, messages
from memories.core.answers import Answer
from memories.core.quoting import escape
from memories.models import Memory
from memories.services.lifecycle.model_answers import (
    Asked,
    note_failures,
    select_unanswered,
    write_model_answers,
)

STATEMENTS_A_RUN: Final = 24
BASE_OUTPUT_TOKENS: Final = 256
OUTPUT_TOKENS_A_STATEMENT: Final = 160


class AnswerShape(BaseModel):
    """One answer in the model's reply."""

    model_config = ConfigDict(extra="forbid", strict=True)

    question: str
    answer: str
    was: str | None


class NoteShape(BaseModel):
    """What one statement answers, by its number."""

    model_config = ConfigDict(extra="forbid", strict=True)

    note: int
    answers: list[AnswerShape]


class IndexReading(BaseModel):
    """The model's reply about the statements of a run."""

    model_config = ConfigDict(extra="forbid", strict=True)

    notes: list[NoteShape]


def write_answers_of(
    workspace: Workspace,
    run: DetectionRun,
    due: Sequence[DetectionDue],
    *,
    renew: Renewal,
    clock: Clock,
) -> None:
    """Ask what the due memories answer, store it, and queue them for the rules; put off at the cap.

    A reply that does not fit counts for each memory that was asked about: after some of them the
    memory goes on without answers.
    """
    now = run.created_at
    ids = {row.memory_id for row in due}
    with in_workspace(workspace):
        unanswered = select_unanswered(ids, now)
    asked = _within(unanswered, workspace.config.story_budget_tokens)
    left = {one.id for one in unanswered[len(asked) :]}
    given: Mapping[UUID, Sequence[Answer]] = {}
    if asked:

        def charge(usage: Usage, cost_usd: float) -> None:
            run.tokens, run.cost_usd = usage.tokens, cost_usd
            with in_workspace(workspace):
                run.save(update_fields=["tokens", "cost_usd"])

        try:
            reading = _ask(workspace, asked, charge=charge, now=now)
        except (MalformedError, RefusedError):
            renew()
            with in_workspace(workspace):
                note_failures(asked)
            raise
        except BeyondCapError as error:
            reading, run.error = None, str(error)
        if reading is None:
            put_off_capped(workspace, run, now=now)
            return
        given, run.dropped = _accepted(reading, asked)
    run.facts_considered, run.batches = len(asked), int(bool(asked))
    renew()
    with in_workspace(workspace):
        present = write_model_answers(given, asked, also_lock=ids - left, now=clock())
        run.status = "done"
        run.narrative = Narrative.DONE if asked else Narrative.NOT_NEEDED
        run.save()
        note_written(Memory, memory_ids=sorted(present), now=clock())


def _within(unanswered: Sequence[Asked], budget_tokens: int) -> list[Asked]:
    """Return the first statements that fit into a call, at least one."""
    sizes = accumulate(llm.estimate_tokens(line(99, one.statement)) for one in unanswered)
    fitting = sum(size <= budget_tokens for size in sizes)
    return list(unanswered[: max(fitting, 1)])


def _ask(
    workspace: Workspace,
    asked: Sequence[Asked],
    *,
    charge: Callable[[Usage, float], None],
    now: datetime,
) -> IndexReading | None:
    """Return the model's reply; None when the day's cap has no room for the call.

    Raises
    ------
    BeyondCapError
        When the highest cost exceeds a whole day's cap.
    ModelError
        When there is no usable reply; its cost is charged all the same.
    """
    prompt: Sequence[ChatMessage] = messages([one.statement for one in asked])
    most = BASE_OUTPUT_TOKENS + OUTPUT_TOKENS_A_STATEMENT * len(asked)
    model = llm.model_name(workspace.config.language_model)
    highest, cap = llm.highest_cost_usd(prompt, most, model), workspace.config.narrative_daily_usd
    if highest > cap:
        raise BeyondCapError(highest, cap)
    reserved = spend.reserve(workspace, highest, now=now)
    if reserved is None:
        return None
    usage, cost_usd = Usage(), reserved.usd
    try:
        charge(usage, cost_usd)
        release_connection()
        answer = llm.ask(prompt, IndexReading, model=model, escape=escape, max_output_tokens=most)
        usage, cost_usd = answer.usage, answer.cost_usd
    except ModelError as error:
        usage, cost_usd = error.usage, error.cost_usd
        raise
    finally:
        spend.settle(workspace, reserved, usage=usage, cost_usd=cost_usd)
        charge(usage, cost_usd)
    return answer.value


def _accepted(
    reading: IndexReading, asked: Sequence[Asked]
) -> tuple[Mapping[UUID, Sequence[Answer]], int]:
    """Return what to store about each memory, and how many answers were dropped.

    Of two entries about one number only the first counts; other numbers than those given do not.
    """
    of_number: dict[int, list[Answer]] = {}
    for note in reading.notes:
        answers = [Answer(one.question, one.answer, one.was) for one in note.answers]
        of_number.setdefault(note.note, answers)
    statements = [one.statement for one in asked]
    given = {}
    for number, one in enumerate(asked, start=1):
        others = [*statements[: number - 1], *statements[number:]]
        given[one.id] = accept_answers(of_number.get(number, ()), one.statement, others)
    offered = sum(len(note.answers) for note in reading.notes)
    return given, offered - sum(map(len, given.values()))
