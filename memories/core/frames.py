"""Find frames with one slot: who approves, executes or merges; where a thing is kept.

Two texts with different fillers in the slot of one frame exclude each other, whatever their other
words; the caller decides whether they are on one topic. A frame stays here only
while the development files score worse without it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from memories.core.calendar_words import DAYS_OF_WEEKS, MONTHS
from memories.core.function_words import NEGATORS, words_of
from memories.core.lexicon import by_concept, concept_of, is_product
from memories.core.reasons import Difference
from memories.core.value_likeness import may_be_one_name

_WHO: Final[dict[str, str]] = {
    "who approves": (
        r"approv\w+|sign(?:s|ed)?[- ]?off|signs?\soff|signed\soff|sign-off|authori[sz]\w+|"
        r"green\slight|decid(?:es?|ed|ing)|decision\s(?:of|by|is)|last\sword|final\ssay|"
        r"\w+'s\scall|gives?\s(?:the|an?|his|her|their)\s(?:ok|okay|go|nod|yes|consent)|"
        r"a\syes\s(?:from|of)|say-so|consents?|permission\s(?:of|from)|countersigns?|"
        r"has\sto\sagree|must\sagree|clears?|okays?|waves?\sthrough|grants?"
    ),
    "who executes": (
        r"execut\w+|carri(?:ed|es)\sout|done\sby|performed\sby|performs?|sends?|sent\sby|handles?|"
        r"handled\sby|rights\sto"
    ),
    "who merges": r"merg\w+|press(?:es)?\smerge",
}
_WHAT: Final[dict[str, str]] = {
    "where it is kept": (
        r"keep|keeps|kept|lives?|stor(?:e|es|ed)|sits?|held|holds?|stands?|hangs?|located|saved|"
        r"found|hosted|runs?\s(?:in|on)|based|written\s(?:in)?to|(?:is|are)\s(?:in|at|with|on|a\srow\sin)|put|puts|"
        r"look\sin|read\s(?:it\s|them\s)?from|goes\s(?:in)?to|rests?"
    ),
}
PEOPLE: Final = words_of(
    "accountant accounting admin administrator advisor advocate agent aide analyst architect"
    " artist assistant attorney auditor aunt author babysitter baker board boss brother buyer"
    " captain caretaker carer carpenter cashier caterer ceo cfo chair chairman chairwoman chef"
    " chief child children cleaner clerk client coach colleague commander committee compliance"
    " concierge conductor consultant contractor controller cook coordinator council counsel"
    " cousin cto curator custodian dad daughter dba dean deputy designer desk developer director"
    " dispatcher doctor dpo driver editor electrician engineer engineering facilities father"
    " finance foreman founder friend gardener grandfather grandma grandmother grandpa"
    " grandparent grandson granny guard guardian guide head headmaster headteacher helpdesk hr"
    " husband inspector instructor insurer intern inventor investor janitor journalist judge"
    " jury landlord lawyer lead leader legal librarian maintainer manager marketing mechanic"
    " medic member mentor midwife minister moderator mother mum mom neighbour neighbor niece"
    " nephew notary nurse officer operations operator organiser organizer owner painter parent"
    " paramedic partner patient payroll pharmacist photographer physician pilot planner platform"
    " plumber porter postman president principal procurement producer professor programmer"
    " psychologist publisher purchasing quality receptionist registrar reporter researcher"
    " reviewer roofer sales scientist secretary security sergeant sister son sous-chef"
    " specialist sponsor sre staff steward student sub-editor supervisor supplier support"
    " surgeon surveyor teacher technician tenant tester therapist trainer translator treasurer"
    " tutor uncle vet veterinarian vicar volunteer waiter waitress warden watchman wife yourself"
    " everybody anyone anybody nobody team squad"
)
_ROLES: Final = frozenset(map(concept_of, PEOPLE)) - {concept_of("approve")}
_GROUP: Final = re.compile(
    r"\b([a-z][\w-]{2,30})\s(?:team|squad|desk|crew|department|unit)\b", re.I
)
# Words for nobody in particular ("the team" may be any); they fill no slot.
_AUTHORS: Final = frozenset({"author", "authors"})  # whose stem is that of "authorise"
_VAGUE: Final = frozenset(
    concept_of(word)
    for word in words_of("team squad member staff everybody anyone anybody head chief")
)
_ASKING: Final = frozenset(
    concept_of(word)
    for word in words_of("client customer patient student tenant child children member")
)
_SELDOM: Final = frozenset(map(concept_of, words_of("the our your their his her whole own")))
_NO_NAMES: Final = words_of(
    "i eur usd gb mb kb tb utc cet cest am pm db api id ids url pdf csv json xml html sql http"
    " https ui ux it pr prs ci cd qa os cpu gpu ram sla slo faq vat hr ok tv"
).union(MONTHS, DAYS_OF_WEEKS, ("christmas", "easter"))
_EVERYDAY: Final = words_of(
    "go rest make swift spring bun rust dart ruby c linear teams drone express echo fly arch fish"
    " chef sequential integer slack shortcut helm puppet salt sublime ant"
)
_TITLE: Final = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|Herr|Frau|Familie|Old)\b\.?\s")
_CLAUSE: Final = re.compile(r"(?<=[.!?;:,])\s|\s-\s|\s(?:and|but|then|while)\s|\n+")
_WORD: Final = re.compile(r"[A-Za-z][\w-]{0,40}")
_DENIED: Final = re.compile(
    rf"\b(?:{'|'.join(sorted(NEGATORS - {'nothing'}))}|without|cannot|can't|don't|doesn't|isn't|"
    r"aren't|instead\sof|rather\sthan|leave\s\w+\s\w+\salone)\b",
    re.IGNORECASE,
)
_NAME: Final = re.compile(
    r"(?<=[a-z,'\"] )(?:[A-Z][\w'&.-]*\w)|"
    r"\b(?:(?=\w*[a-z][A-Z])\w+|(?:\d[^\W\d]*|[^\W\d]+)-?\d[\w.-]*\w|[A-Z]{2}\w*)\b"
)


def _whole_words(phrases: str) -> str:
    return rf"(?<![\w-])(?:{phrases})(?![\w-])"


_FRAMES_OF_PEOPLE: Final = {
    name: re.compile(_whole_words(phrases), re.IGNORECASE) for name, phrases in _WHO.items()
}
_FRAMES_OF_THINGS: Final = {
    name: re.compile(_whole_words(phrases), re.IGNORECASE) for name, phrases in _WHAT.items()
}

Fillers = dict[str, str]  # by concept, as written
Slots = dict[str, Fillers]  # by frame


@lru_cache(maxsize=8192)
def _filled_by_people(text: str) -> Slots:
    return _fill(text, _FRAMES_OF_PEOPLE, _find_people)


@lru_cache(maxsize=8192)
def _filled_by_names(text: str) -> Slots:
    return _fill(text, _FRAMES_OF_THINGS, _find_names)


def _fill(text: str, frames: dict[str, re.Pattern[str]], find: Callable[[str], Fillers]) -> Slots:
    """Return the slots that a text fills; clauses with a negation fill none."""
    found: Slots = {}
    for clause in _CLAUSE.split(text):
        fillers = find(clause) if clause and not _DENIED.search(clause) else None
        for name, pattern in frames.items():
            if fillers and pattern.search(clause):
                found[name] = fillers | found.get(name, {})
    return found


def _find_names(clause: str) -> Fillers:
    plain = _TITLE.sub("", clause)
    written = [match.removesuffix("'s").removesuffix("'") for match in _NAME.findall(plain)]
    written += [word for word in _WORD.findall(plain) if _is_product(word)]
    return by_concept(
        word for word in written if word.lower() not in _NO_NAMES and not word[0].isdigit()
    )


def _is_product(word: str) -> bool:
    """Return whether a word names a product and is not also a common word ("go", "rest")."""
    return is_product(concept_of(word.lower())) and word.lower() not in _EVERYDAY


def other_name(a: str, b: str) -> str:
    """Return how two texts fill one slot by different names, "" when one contains both names."""
    mine, theirs = _filled_by_names(a), _filled_by_names(b)
    known_a, known_b = (by_concept(_WORD.findall(text)) for text in (a, b))
    for frame in sorted(mine.keys() & theirs.keys()):
        left, right = mine[frame], theirs[frame]
        are_absent = left.keys().isdisjoint(known_b) and right.keys().isdisjoint(known_a)
        if are_absent and not (_is_in_and_on(a, left, b, right) or _may_be_one(left, right)):
            return _difference(frame, left, right)
    return ""


def _is_in_and_on(a: str, left: Fillers, b: str, right: Fillers) -> bool:
    """Return whether one names a place and one software: "in Lyon", "on Postgres"."""
    preps = {
        _preposition(text, word)
        for text, words in ((a, left), (b, right))
        for word in words.values()
    }
    return preps == {"in", "on"} and any(map(is_product, left)) != any(map(is_product, right))


def _may_be_one(left: Fillers, right: Fillers) -> bool:
    """Return whether the only fillers may be one: "in Lyon", "in France"."""
    if len(left) != 1 or len(right) != 1:
        return False
    return may_be_one_name(*left.values(), *right.values(), is_place=True)


def _preposition(text: str, word: str) -> str:
    before, found, _ = text.partition(word)
    return before.split()[-1].lower() if found and before.split() else ""


def _difference(frame: str, left: Fillers, right: Fillers) -> Difference:
    one, other = min(left), min(right)
    return Difference(f"{frame}: {left[one]} against {right[other]}", one, other)


def people(text: str) -> frozenset[str]:
    """Return the roles that a text names, as concepts."""
    return frozenset(_find_people(text))


def _find_people(text: str) -> Fillers:
    words = _WORD.findall(text)
    found = {key: word for key, word in by_concept(words).items() if key in _ROLES}
    groups = by_concept(_GROUP.findall(text))
    found = {key: word for key, word in groups.items() if key not in _SELDOM} | found
    if author := next((word for word in words if word.lower() in _AUTHORS), ""):
        found["author"] = author
    return {key: word for key, word in found.items() if key not in _VAGUE | _ASKING}


def other_filler(a: str, b: str) -> str:
    """Return how two texts fill one slot differently, "" when they do not."""
    mine, theirs = _filled_by_people(a), _filled_by_people(b)
    for frame in sorted(mine.keys() & theirs.keys()):
        left, right = mine[frame], theirs[frame]
        if left.keys().isdisjoint(right):
            return _difference(frame, left, right)
    return ""
