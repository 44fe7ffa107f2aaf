"""Read values in a clause: dates, quantities, versions, numbered names, identifiers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from memories.core import measures, quantities
from memories.core.dates import OPENERS as DATE_OPENERS
from memories.core.dates import date_at, dimension
from memories.core.function_words import AUXILIARIES, DETERMINERS, PREPOSITIONS, PRONOUNS
from memories.core.lexicon import concept_of, is_product
from memories.core.number_words import NUMBER_WORDS
from memories.core.scan import LIGHT_WEIGHT, Scan
from memories.core.tokeniser import Token
from memories.core.units import TIME_SECONDS
from memories.core.vocabulary import LABEL_NOUNS, lemma

ORDINAL = re.compile(r"^(\d++)(?:st|nd|rd|th)$")
FUNCTION_WORDS = DETERMINERS | PRONOUNS | AUXILIARIES | {"not"}
_VERSION_NOUNS = frozenset(["version", "release", "http", "tls", "v"])
_OPENERS = DATE_OPENERS | quantities.OPENERS | {"per"}
_CAMEL = re.compile(r"[a-z][A-Z]")


def is_name(token: Token, key: str, *, is_first: bool) -> bool:
    """Return True for identifiers, proper names, acronyms and products."""
    text = token.text
    if is_product(key):
        return True
    if not text.isalpha() or _CAMEL.search(text):
        return True
    if len(text) > 1 and text.isupper():
        return True
    return text[:1].isupper() and not is_first


def opens_value(token: Token) -> bool:
    """Return whether a value can start with a token."""
    return token.kind != "word" or token.lower in _OPENERS


def read_value(scan: Scan, index: int) -> int:
    """Read a date, version, label or quantity at a token; 0 when there is none."""
    tokens = scan.clause.tokens
    token = tokens[index]
    if _is_rate_tail(scan, index):
        scan.held.add(index)
        return index + 2
    if found := date_at(tokens, index):
        end, iso = found
        region = scan.region
        if dimension(iso) == "relative":
            scan.region = "condition"  # "last year" limits the rest
        dates_change = scan.region == "condition" and scan.change is not None
        weight = LIGHT_WEIGHT if dates_change else 1.0
        text, phrase = _text(tokens, index, end), quantities.between(tokens, index, end)
        scan.add(iso, text, "date", weight, at=index, phrase=phrase)
        scan.region = region
        return end
    if token.kind == "number":
        end = _glued_identifier(scan, index) or _numbered_name(scan, index)
        if end:
            return end
    elif end := _spelled_name(scan, index):
        return end
    elif skipped := quantities.bound_before_name(tokens, index):
        return index + skipped
    return _quantity(scan, index)


def _quantity(scan: Scan, index: int) -> int:
    tokens = scan.clause.tokens
    bound = quantities.bound_at(tokens, index)
    start = index + bound[0] if bound else index
    read = quantities.range_at(tokens, start) or quantities.quantity_at(
        tokens, start, bound[1] if bound else "exact"
    )
    if read is None:
        return 0
    end, quantity = read
    if bound and quantity.bound == bound[1]:
        quantity = replace(quantity, is_strict=bound[2])
    if scan.suffix and quantity.unit == "count":
        quantity = measures.rescale(quantity, scan.suffix)
    scan.suffix = None
    weight = LIGHT_WEIGHT if tokens[index].lower == "one" and quantity.unit == "count" else 1.0
    scan.add(measures.key(quantity), quantity.text, "quantity", weight, quantity=quantity, at=index)
    return end


def _is_rate_tail(scan: Scan, index: int) -> bool:
    """Return True for "per second" after "100 requests", which is part of the rate."""
    tokens = scan.clause.tokens
    if tokens[index].lower not in ("per", "a", "an", "each", "every", "/"):
        return False
    if index + 1 >= len(tokens) or tokens[index + 1].lower not in TIME_SECONDS:
        return False
    recent = [term.quantity for term in scan.terms[-2:] if term.quantity]
    return any(quantity.unit.endswith("/s") and quantity.noun for quantity in recent)


def _glued_identifier(scan: Scan, index: int) -> int:
    """Read "2fa", "9f3ab2", "10.0.0.1", "3rd": digits in a name or an ordinal."""
    tokens = scan.clause.tokens
    token = tokens[index]
    if token.text.count(".") == 3 or (len(token.text) > 15 and token.text.isdigit()):
        scan.add(token.text[:64], token.text, "name", at=index)
        return index + 1
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    if following is None or following.kind != "word" or following.start != token.end:
        return 0
    text = token.text + following.text
    if ORDINAL.fullmatch(text.lower()):
        scan.add(f"ordinal {int(token.text[:9])}", text, "word", at=index)
    elif following.lower in ("am", "pm") or quantities.has_unit(tokens, index + 1):
        return 0
    else:
        scan.add(text.lower(), text, "name", at=index)
    return index + 2


def _numbered_name(scan: Scan, index: int) -> int:
    """Read "Postgres 14", "version 2.3", "Patient 7"; 0 when the number is an amount."""
    tokens = scan.clause.tokens
    token = tokens[index]
    before = tokens[index - 1] if index else None
    if token.text.count(".") >= 2:
        return read_version(scan, index, token.text, index + 1)
    if before is not None and before.text == "#" and before.end == token.start:
        scan.add(f"# {token.text}", "#" + token.text, "label", at=index)
        return index + 1
    if before is None or not _names_a_number(before) or _is_measured(tokens, index):
        return 0
    key = "nodejs" if before.lower == "node" else concept_of(before.lower)
    is_named = is_name(before, key, is_first=index == 1) and index - 1 != scan.clause.verb
    if index + 1 in (scan.clause.aux, scan.clause.verb):
        is_named = True  # "Lumen 2 launches": a number right before the verb is a name
    if is_product(key) or before.lower in _VERSION_NOUNS or (is_named and "." in token.text):
        return read_version(scan, index, token.text, index + 1)
    is_ordered = before.lower == "order" and index - 1 != scan.clause.verb  # not "order 20 chairs"
    is_label = is_named or is_ordered or lemma(before.lower) in LABEL_NOUNS
    if token.text.isdigit() and is_label:
        _add_label(scan, index, f"{key} {token.text}")
        return index + 1
    return 0


def _is_measured(tokens: Sequence[Token], index: int) -> bool:
    """Return whether a unit follows a number; the letter of "Room 5 B" is part of the name."""
    if not quantities.has_unit(tokens, index + 1):
        return False
    number, following = tokens[index : index + 2]
    is_letter = len(following.text) == 1 and following.text.isupper()
    is_apart = following.start > number.end
    return not (is_letter and is_apart and lemma(tokens[index - 1].lower) in LABEL_NOUNS)


def _spelled_name(scan: Scan, index: int) -> int:
    """Read a spelled number that names one of many ("room eight"); 0 when there is none."""
    tokens, clause = scan.clause.tokens, scan.clause
    number = NUMBER_WORDS.get(tokens[index].lower)
    if index == 0 or number is None or number != int(number):
        return 0
    before = tokens[index - 1]
    is_last = index + 1 >= len(tokens) or tokens[index + 1].kind == "symbol"
    leads_to_verb = index + 1 in (clause.aux, clause.verb) and not before.lower.endswith("s")
    is_label = is_last and lemma(before.lower) in LABEL_NOUNS
    if not _names_a_number(before) or index - 1 == clause.verb or not (leads_to_verb or is_label):
        return 0
    _add_label(scan, index, f"{concept_of(before.lower)} {int(number)}")
    return index + 1


def _add_label(scan: Scan, index: int, key: str) -> None:
    noun, number = scan.clause.tokens[index - 1 : index + 1]
    phrase = f"{noun.written} {number.text}" if noun.written else ""
    scan.add(key, f"{noun.text} {number.text}", "label", at=index, phrase=phrase)


def _names_a_number(before: Token) -> bool:
    """Return whether a number may name this word's item, unlike "of 3", "the 3", "is 3"."""
    return before.kind == "word" and before.lower not in PREPOSITIONS | FUNCTION_WORDS


def read_version(scan: Scan, index: int, number: str, end: int) -> int:
    before = scan.clause.tokens[index - 1] if index else None
    owner = ""
    if before is not None and before.lower == "node":
        before = Token("nodejs", "nodejs", "word", before.start, before.end)
    if before is not None and before.kind == "word" and before.lower not in AUXILIARIES:
        owner = concept_of(before.lower)
    if owner in ("", "version", "releas", "v") or (before and before.lower in PREPOSITIONS):
        owner = "version"
    scan.add(f"{owner} {number}".strip(), scan.clause.tokens[index].text, "version", at=index)
    return end


def _text(tokens: Sequence[Token], start: int, end: int) -> str:
    return " ".join(token.text for token in tokens[start:end])
