"""Find the answers that say that something is gone, and what they name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from conflicts.core.answers.departures import Departure, read_departure
from conflicts.core.answers.index import StatedAnswer
from conflicts.core.cues import Cue
from conflicts.core.timeline import Timeline
from memories.core.answer_values import is_yes
from memories.core.answers import Answer
from memories.core.topic_words import named_stems, names, stems

MIN_STEMS: Final = 2
_NO: Final = re.compile(r"^\W*no(?:\slonger|t\b)?\b", re.IGNORECASE)
# "Does the old host still exist?", "Is Mireille still here?", "Is FTP in use?"
_BEING: Final = re.compile(
    r"\b(?:still|any\s?more|in\suse|used|usable|exists?|existing|available|supported|running|alive|"
    r"around|in\sservice|valid|employed|have|open|operating|offered)\b",
    re.IGNORECASE,
)
# "Is it still in use?"; not "Is it still running hot?"
_STILL: Final = re.compile(
    r"\b(?:still\s(?:here|there|with\sus|around|alive|used|in\suse|running|available|exists?|valid|"
    r"employed|supported|open|work\shere)|any\s?more|any\slonger)\W*$",
    re.IGNORECASE,
)
_WITH_US: Final = re.compile(
    r"^\W*(?:here|with\sus|at\sours|in\s(?:our|the)\s(?:team|house))\W*$", re.IGNORECASE
)
_IDENTIFIER: Final = re.compile(  # "CI-2030", "8812": hardly anything else has it
    r"(?=[\w-]{0,39}\d)[\w-]{4,40}"
)
# "Does the theatre still have a lift?" is about the lift.
_HAS: Final = re.compile(
    r"^(?:do|does|is|are)\s[^?]{1,80}?\s(?:have|own|rent|lease|using|use|run|offer|sell|operate|"
    r"stock|serve)\s(?P<thing>[^?]+)",
    re.IGNORECASE,
)
# Where it was is no part of the thing: "Does host orion still exist in the Dublin rack?"
_WHERE: Final = re.compile(
    r"\b(?:exist|existing|running|alive)\s(?:in|at)\s(?:the|our)\s[^?]{1,80}", re.IGNORECASE
)
_OWNER: Final = re.compile(r"\b(\w{1,40})['’]s\b")
# "What happened to the baler?" Sold.
_FATE: Final = re.compile(
    r"^what\s(?:has\s)?(?:happened|became|become)\s(?:to|of|with)\s", re.IGNORECASE
)
_ENDED: Final = re.compile(
    r"^\W*(?:(?:it|he|she|they|we)\s)?(?:(?:is|was|were|has|have|been|got)\s){0,2}"
    r"(?:left\s(?:us|(?:the|our)\s(?:company|team|firm|house|city|country))|"
    r"(?:sold|closed|scrapped|retired|deleted|removed|cancell?ed|discontinued|demolished|destroyed|"
    r"dissolved|decommissioned|dismantled|shut\sdown|switched\soff|turned\soff|given\s(?:away|up)|"
    r"thrown\s(?:away|out)|died|stolen|gone|expired|ended|terminated|abolished)"
    r"(?=\W*$|[,.;]|\s(?:to|by|in|on|since|at|for|after|last|this|yesterday|today|and|with)\b))",
    re.IGNORECASE,
)
_ASKS_YES_OR_NO: Final = re.compile(r"^(?:is|are|does|do|can|has|have|may|will)\b", re.IGNORECASE)
_OF_BEING: Final = frozenset(
    stems("still use usable exist available support run alive around service valid employ open "
          "active work company office account licence contract instance any more "
          "here there rent lease own have offer sell operate stock belong serve ours answer "
          "respond")
)  # fmt: skip
# What a name is of, and a writer leaves out: "the SunView portal" is SunView.
_KINDS: Final = frozenset(
    stems("account app application database library package platform portal program programme "
          "server service site software system tool vendor website")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Gone:
    """An answer that something is gone, with the stems that name the thing.

    ``presupposed`` are those of the whole question, where the memory tells of an end: "Does Dad
    take a blood thinner?" is presupposed by "Which blood thinner does Dad take?".
    ``departure`` tells of a person or firm that left a place: the name is the thing.
    """

    stated: StatedAnswer
    thing: frozenset[str]
    presupposed: frozenset[str] = frozenset()
    departure: Departure | None = None


def find_gone(timeline: Timeline) -> Iterator[Gone]:
    """Yield the answers that say that something is gone."""
    for position, fact in enumerate(timeline.facts):
        is_end = timeline.has_cue(position, Cue.END)
        has_successor = timeline.has_cue(position, Cue.SUCCESSOR)
        for answer in fact.answers:
            stated = StatedAnswer(position, answer)
            if answer.was and is_end and not has_successor and (left := _left(answer)):
                yield Gone(stated, left)
            if timeline.has_cue(position, Cue.TEMPORARY, Cue.SETTLE):
                continue
            if (fate := _FATE.match(answer.question)) and _ENDED.match(answer.answer):
                yield Gone(stated, _thing_of(answer.question[fate.end() :]))
            if _denies(answer, is_end=is_end):
                if departure := read_departure(answer.question):
                    yield Gone(stated, _who_left(departure), departure=departure)
                    continue
                asked = _thing_of(answer.question)
                is_being = bool(_BEING.search(answer.question))
                yield Gone(
                    stated, asked if is_being else frozenset(), asked if is_end else frozenset()
                )


def _who_left(departure: Departure) -> frozenset[str]:
    """Return the stems of a name; of who takes no part any more, with those of what it was."""
    return departure.name | departure.place if departure.takes_part else departure.name


def _thing_of(question: str) -> frozenset[str]:
    """Return the stems of the thing that a question is about, not of its owner: "Ana's laptop"."""
    had = _HAS.match(question)
    asked = frozenset(stems(had["thing"] if had else _WHERE.sub("", question))) - _OF_BEING
    owners = frozenset(stem for name in _OWNER.findall(question) for stem in stems(name))
    return asked - owners or asked


def _denies(answer: Answer, *, is_end: bool) -> bool:
    """Return whether an answer says no where it was yes, or its memory tells of an end.

    Who asks whether somebody is "still" there takes for granted that it was so.
    """
    if not _ASKS_YES_OR_NO.match(answer.question) or not _NO.match(answer.answer):
        return False
    if is_end or (answer.was and is_yes(answer.was)):
        return True
    return bool(_STILL.search(answer.question) or _asks_who_stays(answer.question))


def _asks_who_stays(question: str) -> bool:
    """Return whether a question asks whether somebody still belongs to a place."""
    return "still" in question.lower().split() and read_departure(question) is not None


def _left(answer: Answer) -> frozenset[str]:
    """Return the stems of a name that was the answer before; of who is not here any more."""
    if _WITH_US.match(answer.was or ""):
        return named_stems(answer.question)
    return _named(answer.was or "")


def has_identifier(named: frozenset[str], thing: frozenset[str], told: frozenset[str]) -> bool:
    """Return whether `named` has an identifier of the thing, which text and question tell of.

    A number alone may be a price or a room: another word of the thing must be told as well.
    """
    return any(
        _IDENTIFIER.fullmatch(stem) and (not stem.isdigit() or len(thing & told) > 1)
        for stem in named
    )


def _named(value: str) -> frozenset[str]:
    """Return the stems of an earlier answer that is a name; empty for others."""
    return frozenset(stems(value)) if names(f"it was {value}") else frozenset()


def is_meant(gone: Gone, told: frozenset[str], named: frozenset[str]) -> bool:
    """Return whether a text and its question tell the whole thing, its identifier, or its names."""
    if gone.thing <= told or has_identifier(named, gone.thing, told):
        return True
    proper = gone.thing & named_stems(gone.stated.answer.question)
    if not proper or not proper <= named:
        return False
    is_known = bool(proper - _KINDS) and gone.thing - _KINDS <= proper
    return is_known or len(named) >= max(MIN_STEMS, len(gone.thing) - 1)
