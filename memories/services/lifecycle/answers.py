"""Read and write the answers of a memory; their questions are embedded later."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from uuid import UUID

from engram.kernel.asked_credentials import read_together
from engram.kernel.refusals import InvalidError
from engram.kernel.tenancy import current_workspace_id
from memories.core.answers import Answer, first_group
from memories.core.content import QUOTE_CHARS, content_hash, normalise_quote
from memories.models import Memory, MemoryAnswer
from memories.services.causes import FORGOTTEN_BEFORE
from memories.services.index.entities import mark_due
from memories.services.index.given_answers import answers_by_memory
from memories.services.index.statement_hashes import forgotten_wordings

FIELDS = ("position", "question", "answer", "was")


def answers_of(memory: Memory) -> tuple[Answer, ...]:
    """Return the answers of a memory, in order."""
    return answers_by_memory([memory.id])[memory.id]


def answer_rows(memory: Memory, answers: Sequence[Answer]) -> list[MemoryAnswer]:
    """Return the rows of a new memory's answers, not saved."""
    return [_row(memory, position, answer) for position, answer in enumerate(answers)]


def write_answers(memory: Memory, answers: Sequence[Answer]) -> None:
    """Replace the answers of a locked memory; a question that stays keeps its embedding."""
    write_all_answers([(memory, answers)])


def write_all_answers(wanted: Sequence[tuple[Memory, Sequence[Answer]]]) -> None:
    """Replace the answers of locked memories, by as many statements as those of one."""
    stored: dict[UUID, dict[str, MemoryAnswer]] = defaultdict(dict)
    for row in MemoryAnswer.objects.filter(memory__in=[memory.id for memory, _ in wanted]):
        stored[row.memory_id][row.question_hash] = row
    new, kept = [], []
    for memory, answers in wanted:
        present = stored[memory.id]
        told = {answer.identity: answer for answer in answers}
        for position, (digest, answer) in enumerate(told.items()):
            if digest not in present:
                new.append(_row(memory, position, answer))
            elif _place(row := present.pop(digest)) != (position, answer):
                row.position = position
                row.question, row.answer, row.was = answer.question, answer.answer, answer.was
                kept.append(row)
    if gone := [row.pk for rows in stored.values() for row in rows.values()]:
        MemoryAnswer.objects.filter(pk__in=gone).delete()
    if kept:
        MemoryAnswer.objects.bulk_update(kept, FIELDS)
    if new:
        MemoryAnswer.objects.bulk_create(new)
    if changed := [*new, *kept]:
        mark_due({row.memory_id for row in changed})


def _place(row: MemoryAnswer) -> tuple[int, Answer]:
    return row.position, Answer(row.question, row.answer, row.was)


def _row(memory: Memory, position: int, answer: Answer) -> MemoryAnswer:
    return MemoryAnswer(
        memory=memory,
        position=position,
        question=answer.question,
        question_hash=answer.identity,
        question_group=first_group(current_workspace_id(), answer.identity),
        answer=answer.answer,
        was=answer.was,
    )


def texts_to_check(answers: Iterable[Answer]) -> Iterator[str]:
    """Yield the texts in which a credential is looked for: each alone, and with its question."""
    for answer in answers:
        yield answer.question
        for told in (answer.answer, answer.was):
            if told:
                yield told
                yield from read_together(answer.question, told)


def forgotten_quotes(answers: Iterable[Answer]) -> frozenset[str]:
    """Return the hashes of those texts in answers that are exactly a forgotten statement.

    Short texts are left out: who forgets a name does not forbid it as an answer. A question
    mark at the end makes no other statement of it.
    """
    hashes = {digest for answer in answers for digest in _hashes(answer)}
    return frozenset(forgotten_wordings(hashes))


def quotes_forgotten(answer: Answer, forgotten: Collection[str]) -> bool:
    """Return whether a text of an answer has one of the hashes of `forgotten_quotes`."""
    return bool(forgotten) and not _hashes(answer).isdisjoint(forgotten)


def refuse_quotes(answers: Iterable[Answer], forgotten: Collection[str]) -> None:
    """Raise `InvalidError` if a text in answers has one of the hashes of `forgotten_quotes`."""
    for position, answer in enumerate(answers):
        if quotes_forgotten(answer, forgotten):
            raise InvalidError(
                "answers",
                f"Answer {position} is exactly what was forgotten before; leave it out.",
                cause=FORGOTTEN_BEFORE,
            )


def _hashes(answer: Answer) -> set[str]:
    """Return the hashes of texts long enough to quote, with and without a question mark."""
    texts = (answer.question, answer.answer, answer.was or "")
    quoting = [text for text in texts if len(normalise_quote(text)) >= QUOTE_CHARS]
    bare = [text.rstrip("? ") for text in quoting]
    return {content_hash(form) for text in bare for form in (text, f"{text}?")}
