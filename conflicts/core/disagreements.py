"""What two texts about one thing can disagree on: a value, a date, opposite words, a denial.

Claim comparison decides between texts of one frame. Neighbours in a workspace often tell of the
same thing in other words; here the parts that claim comparison has read (quantities, dates,
concepts, polarity) are set against each other, once meaning says that the texts are near.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from conflicts.core.statements import Statement
from conflicts.core.topic_words import stems, tokens
from memories.core.claims import Claim, Quantity
from memories.core.lexicon import KINDS, concept_of, opposites_of
from memories.core.number_words import ORDINALS

MEASURE_COSINE: Final = 0.70
DATE_COSINE: Final = 0.65
CLOCK_COSINE: Final = 0.70
OPPOSITE_COSINE: Final = 0.50
MIN_SHARED_WEIGHT: Final = 4.5
MIN_DENIED_WEIGHT: Final = 2.5
CLOSE: Final = 0.05  # rounding between units: 2 °C and 36 °F

_OBSERVED: Final = re.compile(
    r"\b(?:takes?|took|peaked|fell|grew|went\s(?:up|down)|reached|scores?|p\d\d|spent|so\sfar|"
    r"measured|counted|currently\sat|load(?:ed)?\stest|is\sat\s\d+(?!\d*(?::\d|\s?[ap]\.?m\b)))\b",
    re.IGNORECASE,
)
_METRIC: Final = re.compile(
    r"\b(?:coverage|churn|conversion|retention\srate|latency|revenue|turnover|uptime|usage|accuracy|"
    r"precision|recall|loss|error\srate|signups?|users|headcount|attendance|balance|backlog|"
    r"runway|traffic|throughput|load|temperature|weight|speed|stock|progress|percentile)\b",
    re.IGNORECASE,
)
_SET: Final = re.compile(
    r"\b(?:limit|max(?:imum)?|min(?:imum)?|floor|ceiling|cap(?:ped)?|target|threshold|goal|budget|"
    r"at\s(?:least|most)|below|above|over|under|up\sto|allow\w*|default|policy|must|required)\b",
    re.IGNORECASE,
)
_LEAD: Final = re.compile(
    r"^(?P<prep>from|in|on|at|during|after|before|once|while|for|within|until|outside)\s"
    r"(?P<rest>[^,:.]{2,50}?)(?=[,:]|\s(?:the|our|an?|all)\s)",
    re.IGNORECASE,
)
_JOINED: Final = re.compile(
    r"(?<![\w-])(?:[a-z]{2,30}\d{1,9}|[a-z]{1,30}(?:-[a-z0-9]{1,30}){1,4})(?![\w-])"
)
_NAME_PARTS: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,80}")
_LETTERS: Final = re.compile(r"[a-z]{2,30}")
_IDLE: Final = frozenset(
    {"new", "own", "old", "other", "same", "next", "whole", "entire", "usual", "normal",
     "current", "full", "spare", "second"}
)  # fmt: skip
_OFFSET: Final = re.compile(r"\s(?:before|ahead|earlier|prior|in\sadvance|beforehand)\b", re.I)
_MONTH_DAY: Final = re.compile(
    r"\bthe\s(?P<day>first|last|second|third|\d{1,2}(?:st|nd|rd|th))\s(?:day\s)?of\s"
    r"(?:the|each|every|a)\s(?P<period>month|quarter|year)\b",
    re.IGNORECASE,
)
_NOTICES: Final = frozenset(
    map(
        concept_of,
        ("reminder", "notice", "notification", "alert", "warning", "report", "mail", "message",
         "question", "training", "discussion", "ticket", "complaint", "survey", "article"),
    )
)  # fmt: skip
_EARLIER: Final = frozenset({"before", "during", "until", "while", "within"})
_LATER: Final = frozenset({"after", "once", "outside", "since"})


def is_other_part(a: Statement, b: Statement) -> bool:
    """Whether the texts speak of two parts or kinds of a thing: "audit logs" and "debug logs"."""
    mine, theirs = _modifiers(a), _modifiers(b)
    for noun in mine.keys() & theirs.keys():
        if mine[noun].isdisjoint(b.stems) and theirs[noun].isdisjoint(a.stems):
            return True
    return bool(_codes(a) - b.stems and _codes(b) - a.stems)


def is_other_head(a: Statement, b: Statement) -> bool:
    """Whether what either text speaks of is not in the other: "the cache", "the artefacts"."""
    mine, theirs = _heads(a), _heads(b)
    return bool(mine and theirs and mine.isdisjoint(b.stems) and theirs.isdisjoint(a.stems))


def is_about_other(a: Statement, b: Statement) -> bool:
    """Whether one text speaks of something about the other's thing: "reminders for invoices"."""
    return _is_about(a, b) or _is_about(b, a)


def _is_about(a: Statement, b: Statement) -> bool:
    """Whether all that ``a`` speaks of stands in ``b`` behind a preposition of its subject."""
    mine, theirs = _heads(a), _heads(b)
    if not mine or not theirs & _NOTICES or not theirs.isdisjoint(a.stems):
        return False
    led = {
        term.key
        for claim in b.reading.claims
        for term in claim.terms
        if term.region == "subject" and term.prep in ("for", "about", "on")
    }
    return mine <= led


def _heads(statement: Statement) -> frozenset[str]:
    """The last noun of each subject that is no name."""
    found = set()
    for claim in statement.reading.claims:
        words = [
            term.key
            for term in claim.terms
            if term.region == "subject" and term.kind == "word" and not term.prep
        ]
        found.update(words[-1:])
    return frozenset(found)


def is_other_name(a: Statement, b: Statement) -> bool:
    """Whether the texts speak of two named things of a kind: "web-1" and "web-2", "Theta2"."""
    mine, theirs = _named(a), _named(b)
    if mine & theirs:
        return False
    return _has_relative(mine, b) or _has_relative(theirs, a)


def _has_relative(names: frozenset[str], other: Statement) -> bool:
    """Whether another text has a part of one of the names, but not the whole of it."""
    words = frozenset(_NAME_PARTS.findall(other.fact.content.lower()))
    parts = {part for word in words for part in _LETTERS.findall(word)}
    return any(not parts.isdisjoint(_LETTERS.findall(name)) for name in names - words)


def _named(statement: Statement) -> frozenset[str]:
    """Names with a hyphen or digit that tell what a text speaks of."""
    subject = {
        part
        for claim in statement.reading.claims
        for term in claim.terms
        if term.region == "subject"
        for part in _LETTERS.findall(term.text.lower())
    }
    found = _JOINED.findall(statement.fact.content.lower())
    return frozenset(name for name in found if subject.issuperset(_LETTERS.findall(name)))


def _modifiers(statement: Statement) -> dict[str, set[str]]:
    """Words that stand right before a noun of the text, per noun."""
    found: dict[str, set[str]] = {}
    for claim in statement.reading.claims:
        for before, noun in zip(claim.terms, claim.terms[1:], strict=False):
            is_pair = f"{before.text} {noun.text}".lower() in claim.text.lower()
            is_plain = {before.kind, noun.kind} <= {"word", "name"}
            is_telling = before.text.lower() not in _IDLE
            if is_pair and is_plain and is_telling and not before.is_verb and not noun.is_verb:
                found.setdefault(noun.key, set()).add(before.key)
    return found


def _codes(statement: Statement) -> frozenset[str]:
    """Names that are mixed with digits or underscores: order_id, jnk-01."""
    return frozenset(
        part
        for claim in statement.reading.claims
        for name in claim.identifiers
        if "_" in name
        for part in stems(name)
    )


def are_apart(a: Statement, b: Statement) -> bool:
    """Whether two texts report measurements, or open with conditions that exclude each other."""
    return are_observations(a, b) or is_other_quarter(a, b) or _has_other_condition(a, b)


def _has_other_condition(a: Statement, b: Statement) -> bool:
    """Whether both open with a condition, and another: "During probation …", "After …"."""
    mine, theirs = _LEAD.match(a.fact.content), _LEAD.match(b.fact.content)
    if not mine or not theirs:
        return False
    sides = {mine["prep"].lower(), theirs["prep"].lower()}
    is_opposed = bool(sides & _EARLIER and sides & _LATER)
    return is_opposed or not (_repeats(mine["rest"], b) or _repeats(theirs["rest"], a))


def is_narrowed(a: Statement, b: Statement) -> bool:
    """Whether a text opens with a condition of its own: "In Ireland, …"."""
    for statement, other in ((a, b), (b, a)):
        lead = _LEAD.match(statement.fact.content)
        if lead and not _repeats(lead["rest"], other):
            return True
    return False


def _repeats(condition: str, other: Statement) -> bool:
    """Whether another text speaks of the condition, too."""
    words = [word for word in tokens(condition.lower()) if len(word) > 3 or word.isdigit()]
    text = other.fact.content.lower()
    return not words or any(w in text or concept_of(w) in other.stems for w in words)


def is_other_quarter(a: Statement, b: Statement) -> bool:
    """Whether the texts speak of different quarters."""
    mine, theirs = _dates(a, "quarter"), _dates(b, "quarter")
    return bool(mine and theirs and mine != theirs)


def is_other_day(a: Statement, b: Statement) -> bool:
    """Whether both texts name weekdays, and none of the other's."""
    mine, theirs = _dates(a, "weekday"), _dates(b, "weekday")
    return bool(mine and theirs and mine.isdisjoint(theirs))


def are_observations(a: Statement, b: Statement) -> bool:
    """Whether both texts report what was measured, which moves on by itself."""
    texts = (a.fact.content, b.fact.content)
    if any(_SET.search(text) for text in texts):
        return False
    if all(_OBSERVED.search(text) for text in texts):
        return True
    return all(map(_METRIC.search, texts)) and bool(_measured(a) and _measured(b))


def _measured(statement: Statement) -> bool:
    """Whether a text gives an amount: the hour at which a figure is told measures nothing."""
    return any(claim.quantities or claim.versions for claim in statement.reading.claims)


def differing_value(a: Statement, b: Statement, cosine: float) -> str:
    """Return how two near texts differ in a quantity or date, "" when they do not."""
    texts = (a.fact.content, b.fact.content)
    if any(_OBSERVED.search(text) and not _SET.search(text) for text in texts):
        return ""
    if cosine >= MEASURE_COSINE:
        for mine, theirs in _comparable(a, b):
            return f"{mine.text} against {theirs.text}"
    if cosine >= CLOCK_COSINE and (clocks := _differing_clock(a, b)):
        return clocks
    if cosine >= DATE_COSINE:
        return _differing_date(a, b)
    return ""


def _comparable(a: Statement, b: Statement) -> Iterator[tuple[Quantity, Quantity]]:
    """Yield quantities of one unit when no two of that unit are close."""
    mine = [q for claim in a.reading.claims for q in claim.quantities]
    theirs = [q for claim in b.reading.claims for q in claim.quantities]
    for unit in sorted({q.unit for q in mine} & {q.unit for q in theirs}):
        left = [q for q in mine if q.unit == unit]
        right = [q for q in theirs if q.unit == unit]
        if unit == "count" and not _counts_same(a, b, left, right):
            continue
        if len(left) != 1 or len(right) != 1 or _is_close(left[0], right[0]):
            continue
        if _is_offset(a, left[0]) == _is_offset(b, right[0]):
            yield left[0], right[0]


def _is_offset(statement: Statement, quantity: Quantity) -> bool:
    """Whether a span tells how far off something is: "five days before"."""
    text = statement.fact.content
    at = text.find(quantity.text)
    return at >= 0 and bool(_OFFSET.match(text, at + len(quantity.text)))


def _counts_same(a: Statement, b: Statement, left: list[Quantity], right: list[Quantity]) -> bool:
    """Whether two bare numbers count the same noun."""
    if len(left) != 1 or len(right) != 1:
        return False
    mine, theirs = concept_of(left[0].noun), concept_of(right[0].noun)
    if not left[0].noun or not right[0].noun:
        return False
    return theirs in a.stems or mine in b.stems or "times" in (left[0].noun, right[0].noun)


def _is_close(a: Quantity, b: Quantity) -> bool:
    return abs(a.value - b.value) <= CLOSE * max(abs(a.value), abs(b.value))


def _dates(statement: Statement, dimension: str) -> set[str]:
    found = {date for claim in statement.reading.claims for date in claim.dates}
    return {date for date in found if _dimension(date) == dimension}


def _told_dates(statement: Statement, dimension: str) -> set[str]:
    """Dates of a dimension that are told, not such that name the subject: "Monday's soup is …"."""
    named = {
        term.key
        for claim in statement.reading.claims
        for term in claim.terms
        if term.kind == "date" and term.region == "subject"
    }
    return _dates(statement, dimension) - named


def _dimension(date: str) -> str:
    if ":" in date:
        return "clock"
    if date.startswith(("last-", "next-", "this-")):
        return "relative"
    if "q" in date:
        return "quarter"
    return "weekday" if date.isalpha() else "day"


def _differing_clock(a: Statement, b: Statement) -> str:
    """Two texts that give one hour each, of the same side of what goes on."""
    mine, theirs = _told_dates(a, "clock"), _told_dates(b, "clock")
    if len(mine) != 1 or len(theirs) != 1 or opposite_words(a, b) or _told_other_day(a, b):
        return ""
    left, right = min(mine), min(theirs)
    if left.endswith("z") != right.endswith("z") or left == right:
        return ""
    return f"{left} against {right}"


def _told_other_day(a: Statement, b: Statement) -> bool:
    """Whether only one text limits the hour to a day, or each to another."""
    return any(_dates(a, dimension) != _dates(b, dimension) for dimension in ("weekday", "day"))


def _differing_date(a: Statement, b: Statement) -> str:
    for dimension in ("weekday", "day"):
        mine, theirs = _told_dates(a, dimension), _told_dates(b, dimension)
        if len(mine) == 1 and theirs and mine.isdisjoint(theirs) and len(theirs) <= 2:
            left, right = min(mine), min(theirs)
            if dimension == "weekday" or _day(left) != _day(right):
                return f"{left} against {right}"
    return _differing_month_day(a, b)


def _differing_month_day(a: Statement, b: Statement) -> str:
    """Look for two days of one period: the first and the 15th of the month."""
    mine, theirs = (_MONTH_DAY.findall(s.fact.content) for s in (a, b))
    if len(mine) != 1 or len(theirs) != 1 or mine[0][1].lower() != theirs[0][1].lower():
        return ""
    left, right = (_day_of_month(day.lower()) for day, _ in mine + theirs)
    return f"day {left} against day {right}" if left != right else ""


def _day_of_month(day: str) -> str:
    return str(ORDINALS[day]) if day in ORDINALS else day.rstrip("stndrh")


def _day(date: str) -> str:
    """Month and day of a date, "" when it names no day."""
    parts = date.lstrip("-").split("-")
    return "-".join(parts[-2:]) if len(parts) >= 2 else date


def opposite_words(a: Statement, b: Statement) -> str:
    """Return two words that exclude each other, one of each text, "" when there are none."""
    theirs = b.stems - a.stems
    for word in sorted(a.stems - b.stems):
        if found := opposites_of(word) & theirs:
            return f"{word} against {min(found)}"
    return ""


def other_kinds(a: Statement, b: Statement) -> str:
    """Return two members of one kind, one of each text: French and English, "" without such."""
    first: dict[str, str] = {}  # of each kind, their first member
    for word in sorted(b.stems - a.stems):
        for kind in KINDS.get(word, ()):
            first.setdefault(kind, word)
    first.pop("status", None)
    for word in sorted(a.stems - b.stems):
        if found := [first[kind] for kind in KINDS.get(word, ()) if kind in first]:
            return f"{word} against {min(found)}"
    return ""


def denied_words(a: Statement, b: Statement) -> frozenset[str]:
    """Return the words that one text affirms and the other denies."""
    mine, theirs = _polarities(a.reading.claims), _polarities(b.reading.claims)
    return frozenset(w for w in mine.keys() & theirs.keys() if mine[w] != theirs[w])


def _polarities(claims: tuple[Claim, ...]) -> dict[str, bool]:
    plain = (claim for claim in claims if not _NOT_SO.search(claim.text))
    return {word: claim.polarity for claim in plain for word in sorted(claim.words)}


# What is called untrue may be denied itself: "it is not true that nobody may …".
_NOT_SO: Final = re.compile(
    r"\b(?:not|isn't|no\slonger|never)\s(?:true|the\scase|so)\b|\bthat\s\w+\sis\s(?:false|untrue)\b",
    re.IGNORECASE,
)
