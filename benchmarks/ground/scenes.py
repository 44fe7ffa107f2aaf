"""Captions of invented scenes in pairs: the same in other words, a denial, another scene.

The gate's trees see few such texts in pairs of memories: indefinite subjects, one verb, no names.
Public pairs of captions may be measured, but nothing that was fitted on them may ship.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Final

# Words for somebody, each with one for a wider group of those.
_WHO: Final = (
    ("man", "person"), ("woman", "person"), ("boy", "child"), ("girl", "child"), ("dog", "animal"),
    ("cat", "animal"), ("horse", "animal"), ("cook", "man"), ("singer", "woman"), ("farmer", "man"),
    ("cyclist", "person"), ("dancer", "person"), ("baby", "child"), ("student", "person"),
)  # fmt: skip
_LOOKS: Final = (
    "young",
    "old",
    "small",
    "tall",
    "tired",
    "wet",
    "happy",
    "brown",
    "blond",
    "quiet",
    "thin",
)
# A verb with -ing, its participle, what it is done to, and another verb that says the same.
_DOES: Final = (
    ("playing", "played", "a guitar", "strumming"), ("slicing", "sliced", "an onion", "cutting"),
    ("riding", "ridden", "a bike", "cycling on"), ("carrying", "carried", "a basket", "holding"),
    ("chasing", "chased", "a ball", "running after"), ("reading", "read", "a letter", "looking at"),
    ("painting", "painted", "a fence", "colouring"), ("eating", "eaten", "an apple", "chewing on"),
    ("washing", "washed", "a car", "cleaning"), ("opening", "opened", "a package", "unwrapping"),
    ("drinking", "drunk", "water", "sipping"), ("throwing", "thrown", "a stick", "tossing"),
    ("fixing", "fixed", "a chair", "repairing"), ("pulling", "pulled", "a sledge", "dragging"),
)  # fmt: skip
_WHERE: Final = (
    "in the park", "on a beach", "near a river", "in a kitchen", "on the street", "in the snow",
    "behind a house", "on a stage", "by the sea", "in a garden", "on a bridge", "at a table",
)  # fmt: skip
_KINDS: Final = (  # and how many of ten pairs are of it
    ("ENTAILMENT", 3), ("CONTRADICTION", 2), ("NEUTRAL", 5),
)  # fmt: skip


def draw_scenes(n: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield n pairs `a`, `b` with `nli`: ENTAILMENT, CONTRADICTION or NEUTRAL."""
    rng = random.Random(seed)
    kinds = [kind for kind, share in _KINDS for _ in range(share)]
    for _ in range(n):
        kind = rng.choice(kinds)
        a, b = {"ENTAILMENT": _alike, "CONTRADICTION": _denied, "NEUTRAL": _other}[kind](rng)
        if rng.random() < 0.5:
            a, b = b, a
        yield {"a": f"{a[:1].upper()}{a[1:]}", "b": f"{b[:1].upper()}{b[1:]}", "nli": kind}


def _article(words: str) -> str:
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def _scene(rng: random.Random) -> tuple[str, str, tuple[str, ...], str]:
    who, wider = rng.choice(_WHO)
    look = f"{rng.choice(_LOOKS)} " if rng.random() < 0.5 else ""
    where = f" {rng.choice(_WHERE)}" if rng.random() < 0.5 else ""
    return look + who, wider, rng.choice(_DOES), where


def _alike(rng: random.Random) -> tuple[str, str]:
    who, wider, (doing, done, thing, same), where = _scene(rng)
    a = f"{_article(who)} is {doing} {thing}{where}"
    bare = who.split()[-1]
    return a, rng.choice([
        f"{thing} is being {done} by {_article(who)}{where}",
        f"{_article(who)} is {same} {thing}{where}",
        f"{_article(wider)} is {doing} {thing}{where}",
        f"{_article(bare)} is {doing} {thing}",
        f"the {who} is {doing} {thing}{where}",
        f"there is {_article(who)} {doing} {thing}{where}",
        f"{_article(bare)}, who is {rng.choice(_LOOKS)}, is {doing} {thing}",
        f"{_article(bare)} is {same} {thing}{where}",
    ])  # fmt: skip


def _denied(rng: random.Random) -> tuple[str, str]:
    who, _, (doing, done, thing, same), where = _scene(rng)
    a = f"{_article(who)} is {doing} {thing}{where}"
    return a, rng.choice([
        f"{_article(who)} is not {doing} {thing}{where}",
        f"there is no {who} {doing} {thing}{where}",
        f"nobody is {doing} {thing}{where}",
        f"{thing} is not being {done} by {_article(who)}{where}",
        f"there is no {who.split()[-1]} {same} {thing}{where}",
    ])  # fmt: skip


def _other(rng: random.Random) -> tuple[str, str]:
    who, _, (doing, _, thing, _), where = _scene(rng)
    other, _, (also, _, another, _), place = _scene(rng)
    a = f"{_article(who)} is {doing} {thing}{where}"
    return a, rng.choice([
        f"{_article(other)} is {doing} {thing}{where}",
        f"{_article(who)} is {also} {another}{where}",
        f"{_article(who)} is {doing} {another}{where}",
        f"{_article(who)} is {doing} {thing}{place or ' ' + rng.choice(_WHERE)}",
        f"{_article(other)} is {also} {another}{place}",
        f"{_article(other)} is not {doing} {thing}{where}",
        f"{_article(who)} is not {also} {another}{where}",
        f"{_article(other)} and {_article(who)} are {doing} {thing}{where}",
    ])  # fmt: skip
