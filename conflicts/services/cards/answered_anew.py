"""Find decided pairs whose members were given answers that disagree, since people decided.

Verdicts are about texts, and about the answers of that time; a change of the answers alone leaves
the texts as they were.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import permutations
from uuid import UUID

from conflicts.models import ConflictMember
from conflicts.services.cards.former import read_former
from memories.core.answer_sources import sources_of
from memories.core.answers import Answer, from_records, still_told
from memories.core.spelling import same_letters
from memories.models import MemoryAnswer

Answered = Sequence[tuple[UUID, Answer]]  # the group of the question, and the answer


def pairs_answered_anew(members: Sequence[ConflictMember]) -> set[tuple[UUID, frozenset[str]]]:
    """Return the pairs of lineages, by card, that disagree by an answer that a revision brought.

    An answer that the memories' own words tell was before whoever decided, and does not count,
    nor does what a model has written down, before or since. Two queries, none without revisions.
    """
    revised = {m.memory_id for m in members if m.memory.revision != m.revision}
    if not revised:
        return set()
    cards: dict[UUID, list[ConflictMember]] = defaultdict(list)
    for member in members:
        cards[member.conflict_id].append(member)
    touched = {m.conflict_id for m in members if m.memory_id in revised}
    contents = {m.memory_id: m.memory.content for card in touched for m in cards[card]}
    now, by_model = _answers_now(contents)
    before = {
        at: from_records(fields.get("answers", ()))
        for at, fields in read_former(members, "fields").items()
    }
    found = set()
    for card in touched:
        for changed, other in permutations(cards[card], 2):
            known = before.get((changed.memory_id, changed.revision))
            if known is None:
                continue
            known = (*known, *by_model.get(changed.memory_id, ()))
            new = [one for one in now.get(changed.memory_id, ()) if not _is_known(one[1], known)]
            if _disagree(new, now.get(other.memory_id, ()), changed, other):
                found.add((card, frozenset((str(changed.lineage), str(other.lineage)))))
    return found


def _answers_now(
    contents: Mapping[UUID, str],
) -> tuple[Mapping[UUID, Answered], Mapping[UUID, Sequence[Answer]]]:
    """Return the present answers of memories, and which of them a model wrote down."""
    found: dict[UUID, list[tuple[UUID, Answer]]] = defaultdict(list)
    asked: dict[UUID, tuple[str, bool]] = {}
    rows = MemoryAnswer.objects.filter(memory__in=contents).order_by("memory", "position")
    names = ("memory_id", "question_group", "question", "answer", "was")
    about = ("memory__asked_answers__answers_hash", "memory__asked_answers__content_hash")
    for memory, group, *told, digest, content_hash in rows.values_list(*names, *about):
        found[memory].append((group, Answer(*told)))
        asked[memory] = digest or "", content_hash == ""
    by_model = {}
    for memory, (digest, is_set) in asked.items():
        answers = [answer for _, answer in found[memory]]
        sources = sources_of(answers, contents[memory], model_digest=digest, is_set=is_set)
        by_model[memory] = [
            a for a, source in zip(answers, sources, strict=True) if source == "model"
        ]
    return found, by_model


def _is_known(answer: Answer, known: Sequence[Answer]) -> bool:
    return any(
        answer.identity == one.identity and same_letters(answer.answer, one.answer) for one in known
    )


def _disagree(
    new: Answered, others: Answered, changed: ConflictMember, other: ConflictMember
) -> bool:
    """Return whether a new answer differs from the other memory's, beyond what the texts tell."""
    return any(
        group == other_group
        and not same_letters(answer.answer, theirs.answer)
        and not (
            still_told((answer,), changed.memory.content)
            and still_told((theirs,), other.memory.content)
        )
        for group, answer in new
        for other_group, theirs in others
    )
