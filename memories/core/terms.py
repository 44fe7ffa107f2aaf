"""Parse a clause into terms: words and values with region, preposition, weight and denial."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memories.core.claim_types import Region, Term, TermKind, UnreadWord
from memories.core.clauses import Clause, is_inverted, opens_with_source, skip_leading_adjunct
from memories.core.function_words import (
    AUXILIARIES,
    CONJUNCTIONS,
    FILLERS,
    FORMS_OF_BE,
    NEGATORS,
    PREPOSITIONS,
    RESTRICTORS,
)
from memories.core.lexicon import CONVERSES, concept_of
from memories.core.number_words import ORDINALS
from memories.core.scan import LIGHT_WEIGHT, Scan
from memories.core.tokeniser import Token
from memories.core.transitions import CHANGING, TransitionSpan
from memories.core.units import NAME_SUFFIXES
from memories.core.unread import unread
from memories.core.values import (
    FUNCTION_WORDS,
    ORDINAL,
    is_name,
    opens_value,
    read_value,
    read_version,
)
from memories.core.vocabulary import INFINITIVE_VERBS, LIGHT_VERBS, VERBS, lemma

_CONDITIONS = frozenset(["if", "when", "unless", "while", "whenever", "during", "except", "once"])
_REASONS = frozenset(["because", "so", "which", "who", "whose", "although", "though", "("])
_NEGATIVE_VERBS = frozenset(["avoid", "lack"])
_VERSION = re.compile(r"^v\.?(\d++(?:\.\d++)*+)$")
_SCOPE_PREPOSITIONS = frozenset(["for", "in", "on", "at", "per", "across", "of", "within"])
_UNIVERSALS = frozenset(["every", "all", "any", "each"])
_OWN_VERBS = frozenset(["has", "have", "had", "do", "does", "did"])
_FULL_VERBS = frozenset(["need", "needs", "get", "gets", "got"])
_REMARKING = frozenset(["after", "before", "with"])  # behind a comma they continue no list
_PARTICLES = frozenset(["up", "down", "on", "off", "out", "outside", "inside", "below", "above"])


@dataclass(frozen=True, slots=True)
class Parsed:
    """Terms of a clause in order, its polarity (False: negated), and the agent's preposition.

    `unread` are the words outside of all terms that may change the meaning.
    """

    terms: tuple[Term, ...]
    polarity: bool
    agent_prep: str
    unread: tuple[UnreadWord, ...]


def read_terms(clause: Clause, change: TransitionSpan | None) -> Parsed:
    """Parse the terms of a clause."""
    lead, lead_region = _lead(clause)
    opens_in_subject = clause.verb > 0 and not clause.is_imperative
    opening: Region = "subject" if opens_in_subject else "predicate"
    if change is not None and opens_in_subject and _is_by_agent(clause, change):
        opening = "aside"  # the subject is the agent of the change, not its object
    scan = Scan(clause, change, opening)
    if lead and lead_region == "aside" and not opens_with_source(clause.tokens):
        scan.prep = ":"  # "Preview envs: …" may limit the statement
    index = 0
    passed: list[Token] = []
    heading: list[Token] = []  # "To do: …" makes no term but changes the meaning of the rest
    while index < len(clause.tokens):
        if index < lead:
            scan.region = lead_region
        elif index == lead and lead:
            scan.lead_by("", index)
            scan.region = opening if clause.verb > lead else "predicate"
        if clause.tokens[index].text == ":" and not scan.terms:
            heading = [token for token in passed if token.kind == "word"]
        end = _step(scan, index)
        passed += () if index in scan.held else clause.tokens[index:end]
        index = end
    scan.lead_by("", len(clause.tokens))
    if scan.negations > 1:
        scan.add("not", "not", "word", at=len(clause.tokens))
    if is_inverted(clause):
        scan.terms = _in_plain_order(scan.terms)
    agent_prep = scan.agent_prep or ("by" if clause.is_passive else "")
    return Parsed(
        terms=tuple(scan.terms),
        polarity=(scan.negations > 0) == scan.is_reversed,
        agent_prep=agent_prep,
        unread=unread(passed, heading),
    )


def _in_plain_order(terms: Sequence[Term]) -> list[Term]:
    """Return the terms of "behind the shed stand the ladders" as of the plain order."""
    verb = [term for term in terms if term.is_verb]
    rest = [term for term in terms if not term.is_verb]
    place = [replace(t, region="predicate") if t.region == "subject" else t for t in rest]
    is_subject = [t.region == "predicate" and t.prep in ("", "of") for t in rest]
    subject = [
        replace(t, region="subject") for t, is_it in zip(rest, is_subject, strict=True) if is_it
    ]
    others = [t for t, is_it in zip(place, is_subject, strict=True) if not is_it]
    return [*subject, *verb, *others]


def _lead(clause: Clause) -> tuple[int, Region]:
    """Return length and region of the words before the clause proper: "In May", "Note:"."""
    colon = next((i for i, token in enumerate(clause.tokens) if token.text == ":"), -1)
    if 0 < colon < clause.verb:
        before = clause.tokens[:colon]
        has_name = any(token.kind != "word" or token.text[:1].isupper() for token in before[1:])
        return colon + 1, "condition" if has_name else "aside"
    region: Region = "aside" if opens_with_source(clause.tokens) else "condition"
    return skip_leading_adjunct(clause.tokens), region


def _is_by_agent(clause: Clause, change: TransitionSpan) -> bool:
    """Return True for "counsel changed the law from X to Y", with an object after the verb."""
    if change.kind not in ("switch", "return") or clause.agent_is_theme():
        return False
    following = clause.tokens[clause.verb + 1 : clause.verb + 2]
    return bool(following) and following[0].lower not in PREPOSITIONS


def _step(scan: Scan, index: int) -> int:
    token = scan.clause.tokens[index]
    if index == scan.clause.verb and token.lower not in AUXILIARIES - _FULL_VERBS:
        return _verb(scan, index)
    if index in (scan.clause.aux, scan.clause.verb):
        return _auxiliary(scan, index)
    if opens_value(token) and (value_end := read_value(scan, index)):
        return value_end
    if token.kind == "symbol":
        return _symbol(scan, index)
    return _negator(scan, index) if token.lower in NEGATORS else _word(scan, index)


def _auxiliary(scan: Scan, index: int) -> int:
    token = scan.clause.tokens[index]
    scan.lead_by("", index)
    scan.region = "predicate"
    if token.lower in _OWN_VERBS and index == scan.clause.verb:
        scan.add(lemma(token.lower), token.text, "word", LIGHT_WEIGHT, at=index, is_verb=True)
    return index + 1


def _verb(scan: Scan, index: int) -> int:
    token = scan.clause.tokens[index]
    scan.lead_by("", index)
    scan.region, scan.denied = "predicate", False
    if token.kind == "symbol":
        return index + 1
    base = lemma(token.lower)
    if base in _NEGATIVE_VERBS:
        scan.is_reversed = True
        return index + 1
    key = concept_of(token.lower)
    converse = CONVERSES.get(base)
    if converse and any(t.lower == converse[1] for t in scan.clause.tokens[index:]):
        key, scan.agent_prep = converse
        base = key
    changes = scan.change is not None and scan.change.kind != "end" and base in CHANGING
    weight = 0.0 if changes else LIGHT_WEIGHT if base in LIGHT_VERBS else 1.0
    scan.add(key, token.text, "word", weight, at=index, is_verb=True)
    return index + 1


def _symbol(scan: Scan, index: int) -> int:
    text = scan.clause.tokens[index].text
    if text in ",;)\u2014\u2013":
        is_past_verb = 0 <= scan.clause.verb < index
        if text == "," and is_past_verb and scan.region == "predicate":
            rest = [token.lower for token in scan.clause.tokens[index + 1 :]]
            is_list = not {"and", "or"}.isdisjoint(rest) and rest[0] not in _REMARKING
            scan.region = "predicate" if is_list else "apposition"
        scan.lead_by("", index)
        scan.denied = False
        if scan.region in ("condition", "aside") and scan.clause.verb < index:
            scan.region = "predicate"
    elif text == "(":
        scan.lead_by("", index)
        scan.region = "aside"
    return index + 1


def _negator(scan: Scan, index: int) -> int:
    """Read a negation of the clause, or the denial of one constituent ("S3, not GCS")."""
    tokens, clause = scan.clause.tokens, scan.clause
    lower = tokens[index].lower
    before = tokens[index - 1].lower if index else ""
    following = tokens[index + 1].lower if index + 1 < len(tokens) else ""
    if following in ("only", "necessarily") or (lower == "no" and following in ("matter", "doubt")):
        return index + 2
    if lower == "no" and following == "longer":
        scan.negations += 1
        return index + 2
    if following == "even" and any(token.lower in NEGATORS for token in tokens[:index]):
        return index + 2  # "nobody may, not even staff" says again what is denied
    if scan.region == "condition" or (scan.region == "aside" and index > clause.verb >= 0):
        scan.add("not", tokens[index].text, "word", at=index)
        return index + 1
    if index + 1 >= len(tokens) or tokens[index + 1].kind == "symbol":
        scan.negations += 1  # "…, never"
        return index + 1
    has_object = any(term.region == "predicate" and not term.is_verb for term in scan.terms)
    near_verb = before in AUXILIARIES or index - 1 == clause.verb or index + 1 == clause.verb
    is_aside = before in (",", "and", "but", "(") and bool(scan.terms)
    if is_aside or following == "to" or (index > clause.verb >= 0 and has_object and not near_verb):
        scan.lead_by("", index)
        scan.denied = True
    else:
        scan.negations += 1
    return index + 1


def _word(scan: Scan, index: int) -> int:
    tokens = scan.clause.tokens
    token = tokens[index]
    lower = token.lower
    is_last = index + 1 >= len(tokens) or tokens[index + 1].kind == "symbol"
    if lower in _CONDITIONS or lower in _REASONS:
        scan.lead_by("", index)
        scan.region = "condition" if lower in _CONDITIONS else "aside"
        scan.denied = False
    elif lower == "free" and scan.terms and index and _is_freed(scan, tokens[index - 1]):
        scan.terms[-1] = replace(scan.terms[-1], is_denied=True)  # "gluten free"
        scan.held.add(index)
    elif lower in RESTRICTORS:
        scan.add(lower, token.text, "word", at=index)
    elif lower in PREPOSITIONS and not _is_particle(scan, index, is_last=is_last):
        if lower == "to" and not is_last and _is_infinitive(tokens[index + 1]):
            scan.lead_by("", index)
            if _is_purpose(scan, index):
                scan.region = "aside"
        elif lower not in ("of", "instead") or (lower == "of" and not scan.prep):
            scan.lead_by(lower, index)
    elif lower in CONJUNCTIONS or lower in FILLERS:
        scan.denied = scan.denied and lower not in ("but", "yet")
    elif lower in _UNIVERSALS:
        scan.is_universal = True
    elif lower not in FUNCTION_WORDS:
        return _content_word(scan, index)
    return index + 1


def _is_particle(scan: Scan, index: int, *, is_last: bool) -> bool:
    """Return True for "the flag is on" and "is on in production", not for "is on Monday"."""
    lower, tokens = scan.clause.tokens[index].lower, scan.clause.tokens
    if is_last:
        return lower in _PARTICLES
    follows_be = index > 0 and tokens[index - 1].lower in FORMS_OF_BE
    return lower == "on" and follows_be and tokens[index + 1].lower in _SCOPE_PREPOSITIONS


def _is_freed(scan: Scan, before: Token) -> bool:
    """Return True for "gluten free", not for "is available free" and "travel free"."""
    last = scan.terms[-1]
    is_noun = not last.is_verb and not before.lower.endswith(("able", "ible", "ed", "ly"))
    return is_noun and last.region == "predicate" and last.text == before.text


def _is_infinitive(following: Token) -> bool:
    lower = following.lower
    return (
        lemma(lower) in VERBS and not lower.endswith(("s", "ing", "ed")) and following.text == lower
    )


def _is_purpose(scan: Scan, index: int) -> bool:
    """Return True for "replaced X by Y to get queues", not for "agreed to move"."""
    clause = scan.clause
    if not 0 <= clause.verb < index - 1 or scan.region != "predicate":
        return False
    verb = clause.tokens[clause.verb].lower
    return verb not in AUXILIARIES and lemma(verb) not in INFINITIVE_VERBS


def _content_word(scan: Scan, index: int) -> int:
    token = scan.clause.tokens[index]
    lower = token.lower
    if lower in ORDINALS or ORDINAL.match(lower):
        number = ORDINALS.get(lower) or int(lower[:-2][:9])
        scan.add(f"ordinal {number}", token.text, "word", at=index)
        return index + 1
    if version := _VERSION.match(lower):
        return read_version(scan, index, version[1], index + 1)
    key = concept_of(lower)
    if lower == "node" and index + 1 < len(scan.clause.tokens):
        key = "nodejs" if scan.clause.tokens[index + 1].kind == "number" else key
    kind: TermKind = "name" if is_name(token, key, is_first=index == 0) else "word"
    weight = LIGHT_WEIGHT if kind == "word" and lemma(lower) in LIGHT_VERBS else 1.0
    if "_" in lower:
        head, _, suffix = lower.rpartition("_")
        if suffix in NAME_SUFFIXES and head:
            scan.suffix, key = NAME_SUFFIXES[suffix], head
    if scan.is_universal and scan.region == "predicate" and scan.prep in _SCOPE_PREPOSITIONS:
        scan.prep = "every"  # "for every route" limits nothing
    scan.add(key, token.text, kind, weight, at=index)
    return index + 1
