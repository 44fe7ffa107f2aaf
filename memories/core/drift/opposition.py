"""Find how the new wording of a supporting statement turns the old one round."""

from __future__ import annotations

import re
from typing import Final

from memories.core.claim_types import Claim
from memories.core.clauses import fold_phrases
from memories.core.drift.edits import Edit
from memories.core.drift.exchange import find_exchange
from memories.core.drift.parts import weights_of, words_of
from memories.core.drift.support import covered
from memories.core.lexicon import DENYING, concept_of, opposites_of
from memories.core.reading import read_cached
from memories.core.spelling import normalise
from memories.core.tokeniser import tokenise

_CLOSE: Final = 0.4  # likeness of words from which two statements are compared word by word
_ONLY: Final = re.compile(
    r"\b(?:only|nobody|no one|never|solely|exclusively|sole|alone|except|none|not|neither|nothing)"
    r"\b",
    re.IGNORECASE,
)
_NEGATION: Final = re.compile(
    r"\b(?:not?|never|nobody|nothing|none|neither|nor|without|cannot|no longer"
    r"|(?:stays?|keeps?|kept) (?:out|away|off))\b|n't\b",
    re.IGNORECASE,
)
_OVER: Final = re.compile(
    r"\b(?:stopped|ceased|finished|(?:is|are|was|were) over)\b", re.IGNORECASE
)
_WORD: Final = re.compile(r"\w+")
_CLAUSE: Final = re.compile(r"[,;:.]\s|\band\b")
_DENIES: Final = frozenset(["not", "never", "longer", "cannot", "t"])  # "isn't" is two words


def opposition(text: str, edit: Edit) -> str:
    """Return how the new wording turns the old one round, "" when nothing shows."""
    if edit.after is None:
        return ""
    old, new = edit.before.text, edit.after.text
    mine, theirs = words_of(old), words_of(new)
    is_close = edit.likeness >= _CLOSE
    # Where the memory denies what its support did not, a denial of now may be the memory's own.
    may_turn = is_close or (_says_it_ended(edit) and _denials(text) <= _denials(old))
    if (may_turn and _is_turned(old, new)) or _has_turned_clause(old, new):
        return "one is negated"
    lost = edit.before.shared.keys() - theirs.keys()
    for key in sorted(lost):
        for opposite in sorted(opposites_of(key) & theirs.keys()):
            said, now = edit.before.shared[key], theirs[opposite]
            if _is_denied(said, old) == _is_denied(now, new):  # "not allowed" is "forbidden"
                return f"{said} vs {now}"
    if is_close and (found := find_exchange(old, new)):
        return found
    added = theirs.keys() - mine.keys() - weights_of(text).keys() - DENYING
    if is_close and added and _ONLY.search(text):
        return "something joined what was the only one: " + theirs[min(added)]
    return ""


def _has_turned_clause(old: str, new: str) -> bool:
    """Return whether a clause of two content words or more is denied on one side alone.

    Where several clauses are turned round, denials of both whole statements may be as many.
    """
    mine, theirs = (
        [(words_of(part).keys() - DENYING, part) for part in _CLAUSE.split(text)]
        for text in (old, new)
    )
    return any(
        len(words) > 1 and words == others and (_denials(part) + _denials(other)) % 2 == 1
        for words, part in mine
        for others, other in theirs
    )


def _is_turned(old: str, new: str) -> bool:
    """Return whether the number of negations and opposites differs by an odd number."""
    mine, theirs = words_of(old).keys() - DENYING, words_of(new).keys() - DENYING
    opposites = sum(bool(opposites_of(key) & (theirs - mine)) for key in mine - theirs)
    ended = 0 if _is_over(old) and _is_over(new) else _ended(old) + _ended(new)
    return (_denials(old) + _denials(new) + ended + opposites) % 2 == 1


def _denials(text: str) -> int:
    """Count what a text negates, forbids or excludes."""
    return len(_NEGATION.findall(text)) + _forbidding(text)


def _ended(text: str) -> int:
    """Count what a text says to have ended; "no longer" is a negation already."""
    return sum(claim.polarity for claim in _ending(text))


def _is_over(text: str) -> bool:
    return _ended(text) > 0 or _OVER.search(text) is not None


def _says_it_ended(edit: Edit) -> bool:
    """Return whether most of the words are still there, with the end or a ban of what was said."""
    shared = edit.before.shared.keys()
    if edit.after is None or 2 * len(shared & covered(edit.after).keys()) < len(shared):
        return False
    return bool(_forbidding(edit.after.text) or _ending(edit.after.text))


def _is_denied(word: str, text: str) -> bool:
    """Return whether a negation stands before a word, or one word further: "not yet open"."""
    words = _WORD.findall(text.lower())
    at = words.index(word.lower()) if word.lower() in words else 0
    return not _DENIES.isdisjoint(words[max(0, at - 2) : at])


def _forbidding(text: str) -> int:
    """Count the words that forbid; "off limits" and "turned away" stand for one."""
    words = fold_phrases(tokenise(normalise(text)))
    return sum(concept_of(word.lower) in DENYING for word in words)


def _ending(text: str) -> list[Claim]:
    """Return the claims that something ended; closed is a state, too, with an opposite."""
    changes = [(claim, claim.transition) for claim in read_cached(text).claims]
    return [one for one, it in changes if it and it.kind == "end" and it.text.lower() != "closed"]
