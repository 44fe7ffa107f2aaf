"""Find the change that a clause states: its old and its new value.

Works on the tokens of one clause and returns token positions, so that the words of the old value
are read as denied: "moved from npm to pnpm" does not claim npm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memories.core.claim_types import TransitionKind
from memories.core.clauses import Clause
from memories.core.function_words import PREPOSITIONS
from memories.core.quantities import bound_at
from memories.core.tokeniser import Token, stems
from memories.core.vocabulary import IRREGULAR_PAST, lemma

_SWITCH = stems(
    "move migrate switch change convert transition port shift go upgrade downgrade rename swap"
    " raise increase lower reduce bump cut extend shorten transfer relocate transplant turn take"
    " come drop grow promote demote reassign relabel set push hand pass bring flip slip postpone"
    " delay defer reschedule redirect repoint update double halve"
)
_TO_ONLY = _SWITCH - stems("go come take bring pass turn set hand")
_OFF = stems("move migrate switch come take")
_END = stems(
    "retire deprecate remove drop decommission discontinue sunset abandon cancel kill scrap phase"
    " delete dismantle withdraw revoke terminate shelve ditch expire close end uninstall"
)
_LASTING_ENDS = stems("retire deprecate decommission discontinue sunset abandon cancel")
_RETURN = stems("revert restore reinstate undo unroll rollback resume")
_START = stems("introduce adopt launch install add begin start enable create join")
_BOUNDARY = frozenset(
    [",", ";", ".", "because", "since", "so", "after", "before", "when", "as", "until", "which",
     "(", ")", "during", "while", "for", "in", "on", "at", "by", "and", "but", "last", "this"]
)  # fmt: skip
_ACTIVE_AUX = frozenset(["has", "have", "had", "was", "were", "is", "are", "been", "being", "will"])


CHANGING = _SWITCH | _RETURN | stems("replace swap")


# Without one of these words or verbs a clause states no change.
CHANGE_VERBS = _SWITCH | _END | _RETURN | _START
_CUES = frozenset(
    ["back", "rolled", "returned", "went", "replaced", "replaces", "replace", "replacing",
     "swapped", "superseded", "instead", "favor", "favour", "no", "any", "anymore", "stopped",
     "gone", "as", "from", "now", "effective", "starting", "nowadays", "since"]
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TransitionSpan:
    """A transition by token positions of its clause."""

    kind: TransitionKind
    old: frozenset[int]
    new: frozenset[int]
    cue: str


def change_in(clause: Clause) -> TransitionSpan | None:
    """Return the change that a clause states, the most explicit kind first, or None."""
    tokens = clause.tokens
    lowers = [token.lower for token in tokens]
    if _CUES.isdisjoint(lowers) and CHANGE_VERBS.isdisjoint(map(lemma, lowers)):
        return None
    return (
        _return(clause, lowers)
        or _replacement(clause, lowers)
        or _switch(clause, lowers)
        or _end(clause, lowers)
        or _start(clause, lowers)
    )


def _span(tokens: Sequence[Token], start: int, stops: frozenset[str] = _BOUNDARY) -> frozenset[int]:
    """Return the positions from `start` to the next boundary, without prepositions."""
    found = []
    for index in range(start, len(tokens)):
        lower = tokens[index].lower
        if index > start and lower in stops:
            break
        if tokens[index].kind != "symbol" and lower not in PREPOSITIONS:
            found.append(index)
    return frozenset(found)


def _find(lowers: Sequence[str], words: Sequence[str], start: int = 0) -> int:
    for index in range(start, len(lowers)):
        if lowers[index] in words:
            return index
    return -1


def _is_done(tokens: Sequence[Token], index: int) -> bool:
    """Return True for a past, perfect or passive form, not for "moves files nightly"."""
    lower = tokens[index].lower
    if lower.endswith("ed") or lower in IRREGULAR_PAST:
        return True
    before = {token.lower for token in tokens[max(index - 3, 0) : index]}
    return lower.endswith("ing") and bool(before & _ACTIVE_AUX)


def _is_event(clause: Clause, index: int) -> bool:
    """Return True for a single event ("was enabled"), not for a state ("is enabled")."""
    if not _is_done(clause.tokens, index):
        return False
    between = {token.lower for token in clause.tokens[max(clause.aux, 0) : index]}
    return not clause.is_passive or bool(between & {"was", "were", "been", "got"})


def _has_ended(clause: Clause, index: int) -> bool:
    lasting = lemma(clause.tokens[index].lower) in _LASTING_ENDS
    return _is_event(clause, index) or (lasting and _is_done(clause.tokens, index))


def _subject(clause: Clause) -> frozenset[int]:
    first = clause.aux if clause.aux >= 0 else clause.verb
    return frozenset(
        index for index in range(max(first, 0)) if clause.tokens[index].kind != "symbol"
    )


def _return(clause: Clause, lowers: list[str]) -> TransitionSpan | None:
    tokens = clause.tokens
    for index, lower in enumerate(lowers):
        following = lowers[index + 1] if index + 1 < len(lowers) else ""
        if lower == "back" and following in ("to", "on", "in", "at", "with", "into", "onto"):
            old, new = _after(tokens, lowers, "from"), _span(tokens, index + 2)
            return TransitionSpan("return", old, new, f"back {following}")
        if lower == "rolled" and "back" in lowers[index : index + 6]:
            to = _find(lowers, ("to",), index)
            new = _span(tokens, to + 1) if to > 0 else frozenset()
            old = frozenset() if to > 0 else _subject(clause)
            return TransitionSpan("return", old, new, "rolled back")
        if lemma(lower) in _RETURN and _is_done(tokens, index):
            to = _find(lowers, ("to",), index)
            new = _span(tokens, to + 1) if to > 0 else frozenset()
            return TransitionSpan("return", frozenset(), new, lower)
        if lower in ("returned", "went") and following in ("to", "back"):
            return TransitionSpan(
                "return", frozenset(), _span(tokens, index + 2), f"{lower} {following}"
            )
    return None


def _after(tokens: Sequence[Token], lowers: Sequence[str], word: str) -> frozenset[int]:
    at = _find(lowers, (word,))
    return _span(tokens, at + 1, _BOUNDARY | {"to", "into", "onto"}) if at >= 0 else frozenset()


def _replacement(clause: Clause, lowers: list[str]) -> TransitionSpan | None:
    """Find "replaced X with Y", "X was replaced by Y", "Y replaces X", "Y instead of X"."""
    tokens = clause.tokens
    at = _find(lowers, ("replaced", "replaces", "replace", "replacing", "swapped", "superseded"))
    passive = clause.is_passive and clause.verb == at
    by = _find(lowers, ("with", "by") if lowers[at] != "swapped" else ("for", "with"), at)
    is_habit = passive and by < 0 and lowers[clause.aux] in ("is", "are")
    if at >= 0 and not is_habit:  # "the filter is replaced every 6 months"
        object_ = _span(tokens, at + 1, _BOUNDARY | {"with", "by", "for"})
        if passive:
            new = _span(tokens, by + 1) if by > 0 else frozenset()
            return TransitionSpan("switch", _subject(clause), new, lowers[at])
        if by > 0:
            return TransitionSpan("switch", object_, _span(tokens, by + 1), lowers[at])
        return TransitionSpan("switch", object_, _subject(clause), lowers[at])
    at = _find(lowers, ("instead",))
    if at > 0 and at + 1 < len(lowers) and tokens[at].end - tokens[at].start > len("instead"):
        return TransitionSpan("switch", _span(tokens, at + 1), frozenset(), "instead of")
    at = _find(lowers, ("favor", "favour"))
    if at > 0 and "of" in lowers[at : at + 2]:
        verb = max(clause.verb, 0)
        old = _subject(clause) if clause.is_passive else _span(
            tokens, verb + 1, _BOUNDARY | {"in"}
        )  # fmt: skip
        return TransitionSpan("switch", old, _span(tokens, at + 2), "in favor of")
    return None


def _switch(clause: Clause, lowers: list[str]) -> TransitionSpan | None:
    """Find "moved from X to Y", "raised to Y", "moved off X", but no habit ("moves files")."""
    tokens = clause.tokens
    for index, lower in enumerate(lowers):
        base = lemma(lower)
        if base not in _SWITCH or not _is_done(tokens, index):
            continue
        off = _find(lowers[: index + 4], ("off", "away"), index) if base in _OFF else -1
        origin = _find(lowers, ("from",), index)
        target = _find(lowers, ("to", "into", "onto"), index)
        targets = frozenset(["to", "into", "onto"])
        old = _span(tokens, origin + 1, _BOUNDARY | targets) if origin > 0 else frozenset()
        if off > 0 and origin < 0:
            old = _span(tokens, off + 1, _BOUNDARY | targets)
        new = _span(tokens, target + 1) if target > 0 else frozenset()
        if (old and (new or off > 0)) or (new and base in _TO_ONLY):
            return TransitionSpan("switch", old, new, lower)
    return None


def _end(clause: Clause, lowers: list[str]) -> TransitionSpan | None:
    tokens = clause.tokens
    for index, lower in enumerate(lowers):
        following = lowers[index + 1] if index + 1 < len(lowers) else ""
        if lower == "no" and following == "longer" and bound_at(tokens, index) is None:
            return TransitionSpan("end", _all(clause), frozenset(), "no longer")
        if lower in ("anymore",) or (lower == "any" and following == "more"):
            return TransitionSpan("end", _all(clause), frozenset(), "not any more")
        if lower == "stopped" and following.endswith("ing"):
            return TransitionSpan(
                "end", _span(tokens, index + 2), frozenset(), f"stopped {following}"
            )
        if lemma(lower) in _END and index == clause.verb and _has_ended(clause, index):
            old = _subject(clause) if clause.is_passive else _span(tokens, index + 1)
            return TransitionSpan("end", old or _subject(clause), frozenset(), lower)
        if lower == "gone" and index >= 1:
            return TransitionSpan("end", _subject(clause), frozenset(), lower)
    return None


def _all(clause: Clause) -> frozenset[int]:
    return frozenset(
        index for index, token in enumerate(clause.tokens) if token.kind == "word"
    )  # fmt: skip


def _start(clause: Clause, lowers: list[str]) -> TransitionSpan | None:
    tokens = clause.tokens
    for index, lower in enumerate(lowers):
        following = lowers[index + 1] if index + 1 < len(lowers) else ""
        is_as_of = lower == "as" and following == "of"
        is_from_on = lower == "from" and following in ("now", "today", "then")
        if lower in ("now", "effective", "starting", "nowadays") or is_as_of or is_from_on:
            verb = max(clause.verb, 0)
            return TransitionSpan("start", frozenset(), _span(tokens, verb + 1), lower)
        if lower == "since" and index + 1 < len(lowers):
            return TransitionSpan(
                "start", frozenset(), _span(tokens, max(clause.verb, 0) + 1), lower
            )
        if lemma(lower) in _START and index == clause.verb and _is_event(clause, index):
            new = _subject(clause) if clause.is_passive else _span(tokens, index + 1)
            return TransitionSpan("start", frozenset(), new, lower)
    return None
