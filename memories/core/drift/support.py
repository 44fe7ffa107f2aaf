"""Find what a memory leans on: the statements of a note that say what it says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final, Self

from memories.core.answers import Answer
from memories.core.drift.parts import VALUE_WEIGHT, weights_of, words_of
from memories.core.drift.passages import FIRST_FORM, FORM, Statement, without_links
from memories.core.drift.task_boxes import Task
from memories.core.spelling import letters

MAX_SENTENCES: Final = 4  # that a support keeps
_NEAR: Final = 8  # statements, the most similar ones, among which support is looked for
_LEAST_SIMILARITY: Final = 0.25
_BEHIND_BEST: Final = 0.35  # in similarity: what is further away shares words by chance
_CLEARLY_BEHIND: Final = 0.2  # from here on, a single common word is no support
_BASE: Final = 0.3  # added to the similarity, so that words count more than nearness


@dataclass(frozen=True, slots=True)
class Scored:
    """A statement of a note with its cosine to a memory, -1..1."""

    statement: Statement
    cosine: float


@dataclass(frozen=True, slots=True)
class Sentence:
    """One supporting statement; `shared` are the words of the memory that it covers, by key."""

    text: str
    heading: str
    cosine: float
    shared: Mapping[str, str]
    task: Task = ""  # of older records it is not known
    withdrawn: str = ""  # nor is this

    @property
    def statement(self) -> Statement:
        """Return it as a statement of a note."""
        return Statement(self.text, self.heading, self.task, self.withdrawn)


@dataclass(frozen=True, slots=True)
class Support:
    """What a memory leans on in one version of a note.

    Attributes
    ----------
    sentences : tuple of Sentence
        The best ones, most words first; empty when the note had no text.
    similarity : float
        Cosine of the nearest statement, -1..1.
    digests : frozenset of str
        Of all statements of that version, to tell later which are new and which are gone.
    headings : frozenset of str
        Digests of its headings, as far as statements stand under them; empty of older records.
    form : int
        How the note was read: the present one is compared as it reads in this form.
    near : frozenset of str
        Digests of the statements among which support was looked for; empty of older records.
    """

    sentences: tuple[Sentence, ...]
    similarity: float
    digests: frozenset[str]
    headings: frozenset[str] = frozenset()
    form: int = FORM
    near: frozenset[str] = frozenset()

    def as_record(self) -> dict[str, Any]:
        """Return the fields, JSON serialisable; `from_record` reads them back."""
        sentences = [
            {"text": s.text, "heading": s.heading, "cosine": round(s.cosine, 4),
             "shared": dict(s.shared), "task": s.task, "withdrawn": s.withdrawn}
            for s in self.sentences
        ]  # fmt: skip
        return {
            "sentences": sentences,
            "similarity": round(self.similarity, 4),
            "digests": sorted(self.digests),
            "headings": sorted(self.headings),
            "form": self.form,
            "near": sorted(self.near),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the support that `as_record` wrote."""
        sentences = tuple(
            Sentence(
                s["text"], s["heading"], s["cosine"], s["shared"], s.get("task", ""),
                s.get("withdrawn", ""),
            )
            for s in record["sentences"]
        )  # fmt: skip
        digests, headings = record["digests"], record.get("headings", ())
        form, near = record.get("form", FIRST_FORM), frozenset(record.get("near", ()))
        return cls(
            sentences, record["similarity"], frozenset(digests), frozenset(headings), form, near
        )


def support_of(memory: str, present: Sequence[Scored], answers: Sequence[Answer] = ()) -> Support:
    """Return what a memory leans on in a note.

    Parameters
    ----------
    memory : str
        Its text, with its links.
    present : sequence of Scored
        All statements of the note, in any order.
    answers : sequence of Answer
        Of the memory; their words are looked for, too.

    Returns
    -------
    Support
        Few statements that together cover most of the memory's words and values.
    """
    weights = weights_of(without_links(memory), answers)
    near = sorted(present, key=lambda scored: -scored.cosine)[:_NEAR]
    best = near[0].cosine if near else 0.0
    near = [s for s in near if s.cosine >= max(_LEAST_SIMILARITY, best - _BEHIND_BEST)]
    about = digests_of(scored.statement for scored in near)
    near += [scored for scored in _answering(answers, present) if scored not in near]
    chosen: list[Sentence] = []
    left = set(weights)
    while near and left and len(chosen) < MAX_SENTENCES:
        found, gained = max(
            ((scored, left & covered(scored.statement).keys()) for scored in near),
            key=lambda pair: (_gain(pair[1], weights) * (_BASE + pair[0].cosine), pair[0].cosine),
        )
        is_chance = _gain(gained, weights) < VALUE_WEIGHT and found.cosine < best - _CLEARLY_BEHIND
        if not gained or (chosen and is_chance):
            break
        chosen.append(_sentence(found, gained))
        left -= gained
    if not chosen and near:
        chosen = [_sentence(near[0], set())]
    titles = {title for scored in present for title in titles_of(scored.statement.heading)}
    return Support(
        tuple(chosen),
        best,
        digests_of(scored.statement for scored in present),
        frozenset(map(heading_digest, titles)),
        near=about,
    )


def with_cosines(support: Support, cosines: Sequence[float]) -> Support:
    """Return a support with other cosines of its sentences, such as those of another model.

    The nearest of these is taken for the nearest statement of the note.
    """
    pairs = zip(support.sentences, cosines, strict=True)
    sentences = tuple(replace(sentence, cosine=cosine) for sentence, cosine in pairs)
    return replace(support, sentences=sentences, similarity=max(cosines, default=0.0))


def covered_by(present: Iterable[Scored]) -> set[str]:
    """Return the keys of the words of statements and of their headings."""
    return {key for scored in present for key in covered(scored.statement)}


def covered(statement: Statement) -> dict[str, str]:
    """Return the words of a statement and of its headings as written, by key."""
    return words_of(statement.heading.replace(" > ", ". ")) | words_of(statement.text)


def digest_of(statement: Statement) -> str:
    """Return what recognises a statement, whatever its formatting and heading."""
    return _digest(statement.text)


def standing(sentence: Sentence, present: Iterable[Statement]) -> list[Statement]:
    """Return the statements of a note that have the text of a supporting one, under any heading."""
    digest = digest_of(sentence.statement)
    return [statement for statement in present if digest_of(statement) == digest]


def heading_digest(title: str) -> str:
    """Return what recognises a heading, whatever its formatting."""
    return _digest(title)


def titles_of(heading: str) -> list[str]:
    """Return the headings of a path of headings, the outermost first."""
    return heading.split(" > ") if heading else []


def _digest(text: str) -> str:
    return blake2b(letters(text).encode(), digest_size=4).hexdigest()


def digests_of(statements: Iterable[Statement]) -> frozenset[str]:
    """Return the digests of statements."""
    return frozenset(map(digest_of, statements))


def _answering(answers: Sequence[Answer], present: Sequence[Scored]) -> list[Scored]:
    """Return the statement that gives each answer, in whatever words the memory itself is."""
    said = [(covered(scored.statement).keys(), scored) for scored in present] if answers else []
    found = []
    for answer in answers:
        told, asked = words_of(answer.answer).keys(), words_of(answer.question).keys()
        telling = [pair for pair in said if told and told <= pair[0]]
        if telling:
            best = max(telling, key=lambda pair: (len(asked & pair[0]), pair[1].cosine))
            found.append(best[1])
    return found


def _sentence(scored: Scored, gained: set[str]) -> Sentence:
    words = covered(scored.statement)
    shared = {key: words[key] for key in sorted(gained)}
    said = scored.statement
    return Sentence(said.text, said.heading, scored.cosine, shared, said.task, said.withdrawn)


def _gain(gained: Iterable[str], weights: Mapping[str, int]) -> int:
    return sum(weights[key] for key in gained)
