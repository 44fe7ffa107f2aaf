"""Choose the statements of a transcript that are worth a memory, and say why not the others."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from memories.core.content import CONTENT_MAX_CHARS
from memories.core.extraction.describing import DESCRIBED, Advance, Describing, unwatched
from memories.core.extraction.echoes import find_echoes
from memories.core.extraction.facts import Fact, as_others, make_fact
from memories.core.extraction.features import Described
from memories.core.extraction.floor import Reason, explain_low_worth, find_bar, holds_on
from memories.core.extraction.labels import Role
from memories.core.extraction.language import seems_english
from memories.core.extraction.overlap import Repetitions
from memories.core.extraction.turns import Turn
from memories.core.extraction.worth import worth_of
from memories.core.spelling import letters
from memories.core.text import terms

MAX_FACTS: Final = 30  # of a transcript
MAX_REQUESTED: Final = 500  # of a transcript: what the user asks to remember counts by itself
MAX_OF_EXCHANGE: Final = 3
SAID_ALREADY: Final = frozenset({"already_known", "repeated"})  # keeping it adds nothing
BORDERLINE_WORDS: Final = 5  # nobody can judge a shorter statement
WORTH_FROM: Final = 0.45  # probability; chosen on sessions left out, see docs/tuning.md
BORDERLINE_FROM: Final = 0.25  # one in three of them is worth keeping, see docs/tuning.md


@dataclass(frozen=True, slots=True)
class Kept:
    """A fact to commit, and the worth of its statement (1 for what the user asks to remember)."""

    fact: Fact
    worth: float
    role: Role
    speaker: str
    start: int  # of the statement in the transcript
    is_request: bool


@dataclass(frozen=True, slots=True)
class Refused:
    """A statement that is not kept, with the reason and its worth; 0 when a rule bars it."""

    text: str
    reason: Reason
    worth: float
    role: Role
    speaker: str
    start: int
    fact: Fact | None = None  # what would be kept; none for what a rule bars

    @property
    def is_borderline(self) -> bool:
        """Return whether a person might decide otherwise."""
        if self.reason in SAID_ALREADY:
            return False
        is_whole = len(self.text.split()) >= BORDERLINE_WORDS
        return self.fact is not None and is_whole and self.worth >= BORDERLINE_FROM


@dataclass(frozen=True, slots=True)
class Extraction:
    """The result for one transcript, in the order of the transcript."""

    kept: tuple[Kept, ...]
    refused: tuple[Refused, ...]


def extract(
    transcript: str,
    worth: Callable[[Mapping[str, float]], float] = worth_of,
    *,
    agent: str = "",
    advance: Advance = unwatched,
) -> Extraction:
    """Choose what is worth a memory by rules and by a model of grammar; linear in the length.

    Parameters
    ----------
    transcript : str
        Turns with the labels of their speakers; any other text is read as one turn.
    worth : callable
        The probability (0..1) that a statement with such features is worth keeping.
    agent : str
        The name of the agent whose conversation it is, "" if it is not known.
    advance : callable
        Called with the share that is done, 0..1, before each step; what it raises ends this.

    Returns
    -------
    Extraction
        At most `MAX_FACTS` facts, and `MAX_REQUESTED` that the user asked to remember; every other
        statement is refused with a reason.
    """
    return extract_from(Describing(transcript, agent), worth, advance=advance)


def extract_from(
    describing: Describing,
    worth: Callable[[Mapping[str, float]], float] = worth_of,
    *,
    advance: Advance = unwatched,
) -> Extraction:
    """Choose as `extract` does, and describe only what is not described yet."""
    turns = describing.turns
    candidates = list(facts_in(describing, advance))
    statements = [one.described.statement for one in candidates]
    is_read = seems_english(one.text for one in statements if one.kind == "prose")
    judged = [_judge(one, worth, is_read=is_read) for one in candidates]
    for echo, said in find_echoes([one.described for one in candidates], turns).items():
        judged[echo], judged[said] = _as_the_users(judged[echo], judged[said])
    chosen = [one for one in judged if isinstance(one, Kept)]
    refused = [one for one in judged if isinstance(one, Refused)]
    kept, dropped = choose(chosen, turns)
    return Extraction(tuple(kept), tuple(without_kept([*refused, *dropped], kept)))


def without_kept(refused: Sequence[Refused], kept: Sequence[Kept]) -> list[Refused]:
    """Return, in order, the refusals of statements that no kept fact says, nor in the same words.

    What is not to be stored stays: its place is blanked in what is shown.
    """
    said = {one.fact.says for one in kept} | {one.start for one in kept}
    words = {letters(text) for one in kept for text in (one.fact.quote, one.fact.text)}
    left = (
        one
        for one in refused
        if one.reason == "not_to_be_stored"
        or (one.start not in said and letters(one.text) not in words)
    )
    return sorted(left, key=lambda one: one.start)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A statement, and the fact that it would be, or what bars it."""

    described: Described
    turn: Turn
    fact: Fact | None
    bar: Reason | None


def facts_in(describing: Describing, advance: Advance = unwatched) -> Iterator[Candidate]:
    """Yield all statements with the fact that each would be."""
    found = describing.describe_all(lambda share: advance(DESCRIBED * share))
    pairs = [(one, describing.turns[one.statement.turn]) for one in found]
    for position, (described, turn) in enumerate(pairs):
        advance(DESCRIBED + (1 - DESCRIBED) * position / len(pairs))
        before = pairs[max(position - 2, 0) : position]
        bar = find_bar(described, turn)
        fact = make_fact(describing.transcript, described, turn, before) if bar is None else None
        yield Candidate(described, turn, fact, bar)


def _judge(
    one: Candidate, estimate: Callable[[Mapping[str, float]], float], *, is_read: bool
) -> Kept | Refused:
    """Keep or refuse a statement; `is_read`: the transcript is in the language of the rules."""
    described, turn, fact = one.described, one.turn, one.fact
    text, start = described.statement.text, described.statement.start
    if fact is None:
        reason = one.bar or "too_short"
        return Refused(text, reason, 0.0, turn.role, turn.speaker, start)
    if len(fact.text) > CONTENT_MAX_CHARS:  # with what it refers to and who said it
        return Refused(text, "too_long", 0.0, turn.role, turn.speaker, start)
    worth = 1.0 if described.is_request else estimate(described.features)
    if not is_read and not described.is_request:
        worth = min(worth, BORDERLINE_FROM)
    if worth > 0 and holds_on(described, turn):  # an estimate of 0 keeps requests only
        worth = max(worth, WORTH_FROM)
    if worth >= WORTH_FROM and described.statement.is_doubtful:  # a person decides who says it
        fact = as_others(fact)
        return Refused(text, "third_party_text", WORTH_FROM, turn.role, turn.speaker, start, fact)
    if worth >= WORTH_FROM:
        return Kept(fact, worth, turn.role, turn.speaker, start, described.is_request)
    reason = explain_low_worth(described, turn)
    return Refused(text, reason, worth, turn.role, turn.speaker, start, fact)


def _as_the_users(echo: Kept | Refused, said: Kept | Refused) -> tuple[Kept | Refused, ...]:
    """Return an echo that is worth keeping as a repetition, and what it repeats in its place."""
    if isinstance(echo, Refused) or said.fact is None:
        return echo, said
    if isinstance(said, Refused):
        said = Kept(said.fact, echo.worth, said.role, said.speaker, said.start, is_request=False)
    return refuse(echo, "repeated"), replace(said, worth=max(said.worth, echo.worth))


def choose(found: Sequence[Kept], turns: Sequence[Turn]) -> tuple[list[Kept], list[Refused]]:
    """Drop repetitions, and what is beyond the limits, the least worth first."""
    starts = _exchange_starts(turns)
    kept: list[Kept] = []
    dropped: list[Refused] = []
    read = [(one, frozenset(terms(one.fact.quote))) for one in found]
    repetitions = Repetitions([words for _, words in read])
    said: set[int] = set()
    by_exchange: Counter[int] = Counter()
    counts: Counter[bool] = Counter()
    for one, own in sorted(read, key=_by_worth):
        exchange = bisect_right(starts, one.start)
        reason: Reason | None = None
        if one.start in said or repetitions.has(own):
            reason = "repeated"
        elif counts[one.is_request] >= (MAX_REQUESTED if one.is_request else MAX_FACTS) or (
            not one.is_request and by_exchange[exchange] >= MAX_OF_EXCHANGE
        ):
            reason = "too_many"
        if reason is not None:
            dropped.append(refuse(one, reason))
            continue
        kept.append(one)
        repetitions.add(own)
        said.add(one.fact.says)
        by_exchange[exchange] += not one.is_request
        counts[one.is_request] += 1
    return sorted(kept, key=lambda one: one.start), dropped


def _by_worth(read: tuple[Kept, frozenset[str]]) -> tuple[bool, float, int]:
    one, _ = read
    return (not one.is_request, -one.worth, one.start)


def refuse(one: Kept, reason: Reason) -> Refused:
    """Return a fact that was to be kept as refused."""
    return Refused(one.fact.quote, reason, one.worth, one.role, one.speaker, one.start, one.fact)


def _exchange_starts(turns: Sequence[Turn]) -> list[int]:
    """Return where exchanges begin: with what somebody says after an assistant."""
    return [
        turn.start
        for before, turn in zip([None, *turns], turns, strict=False)
        if before is None or (before.role == "assistant" and turn.role != "assistant")
    ]
