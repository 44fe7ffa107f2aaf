"""Reasons why two texts are not comparable: another thing, part or condition."""

from __future__ import annotations

import re
from typing import Final

from conflicts.core.dates import dates_of
from conflicts.core.occasions import is_of_other_time
from conflicts.core.statements import Statement
from memories.core.calendar_words import MONTH_PATTERN
from memories.core.claim_types import Claim
from memories.core.lexicon import EXCLUSIVE_SUBJECT, concept_of, interchangeable
from memories.core.topic_words import stems, tokens

# "Was counted" tells of a single time, "is counted" what is done.
_OBSERVED: Final = re.compile(
    # "Takes part" measures nothing, nor "takes place" with days, or with a place and no time.
    r"\b(?:(?:takes?|took)(?!\s(?:part|place\son\s\w{3,6}days)\b)"
    rf"(?!\splace\sin\s(?:the\s)?(?!{MONTH_PATTERN})(?-i:[A-Z])[a-z]{{1,30}}(?:\s(?-i:[A-Z])\w{{0,30}}){{0,3}}\W?$)"
    r"|peaked|(?-i:fell)|grew|went\s(?:up|down)|reached|scores?|p\d\d|spent|so\sfar|"
    r"(?<!\bis\s)(?<!\bare\s)(?<!\bbe\s)(?:measured|counted)|currently\sat(?!\sversion\b)|"
    r"load(?:ed)?\stest|is\sat\s\d+(?!\d*(?::\d|\s?[ap]\.?m\b)))\b",
    re.IGNORECASE,
)
_METRIC: Final = re.compile(
    r"\b(?:coverage|churn|conversion|retention\srate|latency|revenue|turnover|uptime|usage|accuracy|"
    r"precision|recall|loss|error\srate|signups?|users|headcount|attendance|balance|backlog|"
    r"runway|traffic|throughput|(?:cpu|server|system|peak|average|base|disk)\sload|temperature|speed|stock|progress|percentile)\b",
    re.IGNORECASE,
)
_SET: Final = re.compile(
    r"\b(?:limit|max(?:imum)?|min(?:imum)?|floor|ceiling|cap(?:ped)?|target|threshold|goal|budget|"
    r"at\s(?:least|most)|below|above|over|under|up\sto|allow\w*|default|policy|must|required)\b",
    re.IGNORECASE,
)
_LEAD: Final = re.compile(
    r"^(?P<prep>from|in|on|at|over|during|after|before|once|while|for|within|until|outside)\s"
    r"(?P<rest>[^,:.]{2,50}?)(?=[,:]|\s(?:the|our|an?|all)\s)",
    re.IGNORECASE,
)
# What tells a name from its namesakes: "Jonas (the analyst)".
_NAMESAKE: Final = re.compile(
    r"\b(?P<name>[A-Z][\w'’-]{1,30})\s\((?:the|our)\s(?P<which>[^()]{2,40})\)"
)
_JOINED: Final = re.compile(
    r"(?<![\w-])(?:[a-z]{2,30}\d{1,9}|[a-z]{1,30}(?:-[a-z0-9]{1,30}){1,4})(?![\w-])"
)
_NAME_PARTS: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,80}")
_LETTERS: Final = re.compile(r"[a-z]{2,30}")
IDLE_MODIFIERS: Final = frozenset(
    {"new", "own", "old", "other", "same", "next", "whole", "entire", "usual", "normal",
     "current", "full", "spare", "second"}
)  # fmt: skip
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
    """Return whether the texts are about two parts of a thing: "audit logs", "debug logs"."""
    mine, theirs = _modifiers(a), _modifiers(b)
    for noun in mine.keys() & theirs.keys():
        if mine[noun].isdisjoint(b.stems) and theirs[noun].isdisjoint(a.stems):
            return True
    return bool(_codes(a) - b.stems and _codes(b) - a.stems)


def is_other_head(a: Statement, b: Statement) -> bool:
    """Return whether the subject of either text is absent from the other, or has a part as its own.

    "The cache", "the queue"; "orders", "order events".
    """
    mine, theirs = _heads(a), _heads(b)
    if not mine or not theirs or not mine.isdisjoint(theirs):
        return False
    is_mine_absent, is_other_absent = mine.isdisjoint(b.stems), theirs.isdisjoint(a.stems)
    if is_mine_absent and is_other_absent:
        return True
    return (is_other_absent and mine <= _modifiers_of(b, theirs)) or (
        is_mine_absent and theirs <= _modifiers_of(a, mine)
    )


def _modifiers_of(statement: Statement, heads: frozenset[str]) -> frozenset[str]:
    """Return the words right before some nouns: "order" of "order events"."""
    found = _modifiers(statement)
    return frozenset(word for head in heads for word in found.get(head, ()))


def is_about_other(a: Statement, b: Statement) -> bool:
    """Return whether one text is about something of the other's: "reminders for invoices"."""
    return _is_about(a, b) or _is_about(b, a)


def _is_about(a: Statement, b: Statement) -> bool:
    """Return whether ``b`` has all of ``a``'s subject behind a preposition of its own subject."""
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
    """Return the last noun of each subject that is no name."""
    found = set()
    for claim in statement.reading.claims:
        words = [
            term.key
            for term in claim.terms
            if term.region == "subject" and term.kind == "word" and not term.prep
        ]
        found.update(words[-1:])
    return frozenset(found)


def is_other_activity(a: Statement, b: Statement) -> bool:
    """Return whether somebody does two things, or two people do one: "Ana operates on Mondays"."""
    one, other = a.reading.claims, b.reading.claims
    if len(one) != 1 or len(other) != 1 or not (_is_active(one[0]) and _is_active(other[0])):
        return False
    if _subject_keys(one[0]).isdisjoint(_subject_keys(other[0])):
        return _is_named_actor(one[0]) and _is_named_actor(other[0])
    mine, theirs = _objects(one[0]), _objects(other[0])
    is_one_verb = one[0].verb == other[0].verb or interchangeable(one[0].verb, other[0].verb)
    if not is_one_verb:
        return mine.isdisjoint(theirs)
    return bool(mine and theirs) and mine.isdisjoint(theirs)


def _is_active(claim: Claim) -> bool:
    return bool(claim.verb) and not claim.agent_prep


def _subject_keys(claim: Claim) -> frozenset[str]:
    return frozenset(term.key for term in claim.terms if term.region == "subject")


def _is_named_actor(claim: Claim) -> bool:
    """Return whether a sentence opens with a name that does something: "Ana bakes bread"."""
    words = claim.text.split()
    subject = [term for term in claim.terms if term.region == "subject"]
    verb = next((term for term in claim.terms if term.is_verb), None)
    return (
        len(subject) == 1
        and verb is not None
        and words[:2] == [subject[0].text, verb.text]
        and verb.text.endswith("s")
        and not verb.text.endswith("ss")
        and claim.verb not in EXCLUSIVE_SUBJECT
    )


def _objects(claim: Claim) -> frozenset[str]:
    """Return the words of the object: what a verb takes without a preposition."""
    return frozenset(
        term.key
        for term in claim.terms
        if term.region == "predicate"
        and not term.prep
        and not term.is_verb
        and term.kind in ("word", "name")
    )


def is_other_name(a: Statement, b: Statement) -> bool:
    """Return whether the texts are about two named things of a kind: "web-1", "web-2"."""
    mine, theirs = _find_identifiers(a), _find_identifiers(b)
    if mine & theirs:
        return False
    return _has_relative(mine, b) or _has_relative(theirs, a)


def _has_relative(names: frozenset[str], other: Statement) -> bool:
    """Return whether another text has a part of one of the names, but not the whole of it."""
    words = frozenset(_NAME_PARTS.findall(other.fact.content.lower()))
    parts = {part for word in words for part in _LETTERS.findall(word)}
    return any(not parts.isdisjoint(_LETTERS.findall(name)) for name in names - words)


def _find_identifiers(statement: Statement) -> frozenset[str]:
    """Return names with a hyphen or digit that identify a text's subject."""
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
    """Return the words right before each noun of the text."""
    found: dict[str, set[str]] = {}
    for claim in statement.reading.claims:
        for before, noun in zip(claim.terms, claim.terms[1:], strict=False):
            is_pair = f"{before.text} {noun.text}".lower() in claim.text.lower()
            is_plain = {before.kind, noun.kind} <= {"word", "name"}
            is_telling = before.text.lower() not in IDLE_MODIFIERS
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
    """Return whether two texts report measurements, begin with exclusive conditions, or name
    namesakes.
    """
    return (
        are_observations(a, b)
        or is_other_quarter(a, b)
        or _has_other_condition(a, b)
        or _are_of_namesakes(a, b)
        or _are_of_namesakes(b, a)
    )


def _are_of_namesakes(a: Statement, b: Statement) -> bool:
    """Return whether a text says which one of a name it means, and the other has the name alone."""
    return any(
        concept_of(match["name"].lower()) in b.stems and b.stems.isdisjoint(stems(match["which"]))
        for match in _NAMESAKE.finditer(a.fact.content)
    )


def _has_other_condition(a: Statement, b: Statement) -> bool:
    """Return whether both begin with different conditions: "During probation …", "After …"."""
    mine, theirs = _LEAD.match(a.fact.content), _LEAD.match(b.fact.content)
    if not mine or not theirs:
        return False
    sides = {mine["prep"].lower(), theirs["prep"].lower()}
    is_opposed = bool(sides & _EARLIER and sides & _LATER)
    return is_opposed or not (_repeats(mine["rest"], b) or _repeats(theirs["rest"], a))


def is_narrowed(a: Statement, b: Statement) -> bool:
    """Return whether a text begins with a condition: "In Ireland, …"."""
    for statement, other in ((a, b), (b, a)):
        lead = _LEAD.match(statement.fact.content)
        if lead and not _repeats(lead["rest"], other):
            return True
    return is_of_other_time(a, b)


def _repeats(condition: str, other: Statement) -> bool:
    """Return whether another text mentions the condition too."""
    words = [word for word in tokens(condition.lower()) if len(word) > 3 or word.isdigit()]
    text = other.fact.content.lower()
    return not words or any(w in text or concept_of(w) in other.stems for w in words)


def is_other_quarter(a: Statement, b: Statement) -> bool:
    """Return whether the texts are about different quarters."""
    mine, theirs = dates_of(a, "quarter"), dates_of(b, "quarter")
    return bool(mine and theirs and mine != theirs)


def is_other_day(a: Statement, b: Statement) -> bool:
    """Return whether both texts name weekdays, with none in common."""
    mine, theirs = dates_of(a, "weekday"), dates_of(b, "weekday")
    return bool(mine and theirs and mine.isdisjoint(theirs))


def is_observed(*statements: Statement) -> bool:
    """Return whether one of the texts reports a measurement rather than a set value."""
    texts = [statement.fact.content for statement in statements]
    return any(_OBSERVED.search(text) and not _SET.search(text) for text in texts)


def are_observations(a: Statement, b: Statement) -> bool:
    """Return whether both texts report measurements, which change by themselves."""
    texts = (a.fact.content, b.fact.content)
    if any(_SET.search(text) for text in texts):
        return False
    if all(_OBSERVED.search(text) for text in texts):
        return True
    return all(map(_METRIC.search, texts)) and bool(_gives_amount(a) and _gives_amount(b))


def _gives_amount(statement: Statement) -> bool:
    """Return whether a text gives an amount other than the time of the measurement."""
    return any(claim.quantities or claim.versions for claim in statement.reading.claims)
