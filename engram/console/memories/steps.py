"""How a score comes about: the steps of its formula, whose changes add up to it.

The formula is that of `memories.core.fusion`, with links and diversity after it. What is shown of a
step is the difference of two rounded values, so that the shown changes sum to the shown score.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from memories.core.associations import ROOT, fits_of
from memories.core.fusion import QUESTION_POWER
from memories.core.shares import SCORE_DIGITS, percent

DIGITS: Final = SCORE_DIGITS
FULL: Final = 100  # the width of a drawing


@dataclass(frozen=True, slots=True)
class Step:
    """One step: its name, how it is computed, and the score before and after it, rounded."""

    name: str
    how: str
    before: float
    after: float
    is_sum: bool = False  # says how far one has come, and changes nothing

    @property
    def change(self) -> str:
        """Return what the step adds, signed; "0" where it changes nothing."""
        added = round(self.after - self.before, DIGITS)
        return f"{added:+.{DIGITS}f}".replace("-", "−") if added else "0"

    @property
    def is_lowering(self) -> bool:
        """Return whether the step takes something away."""
        return self.after < self.before

    @property
    def start(self) -> float:
        """Return where the drawing of the step begins."""
        return 0.0 if self.is_sum else FULL * min(self.before, self.after)

    @property
    def width(self) -> float:
        """Return the width of the drawing."""
        return (
            FULL * self.after - self.start if self.is_sum else FULL * abs(self.after - self.before)
        )


class _Reached(NamedTuple):
    """The score after one step, not rounded."""

    name: str
    how: str
    value: float
    is_sum: bool = False


def steps_of(explain: Mapping[str, Any], score: float) -> list[Step]:
    """Return the steps from nothing to a recalled memory's score, by its `explain`.

    The last value is `score` itself: factors that were kept of past recalls are rounded.
    """
    reached = [*_of_its_text(explain), *_of_its_surroundings(explain), *_of_trust(explain, score)]
    steps, before = [], 0.0
    for place, one in enumerate(reached):
        following = reached[min(place + 1, len(reached) - 1)]
        # What rounding leaves is of the last step before a sum.
        after = round(following.value if following.is_sum else one.value, DIGITS)
        steps.append(Step(one.name, one.how, before, after, one.is_sum))
        before = after
    return steps


def _of_its_text(explain: Mapping[str, Any]) -> Iterator[_Reached]:
    """Yield what words, meaning, the closer look and the memory's questions add."""
    late, late_weight = explain["late"], float(explain["late_weight"])
    first = 1 - late_weight if late is not None else 1.0
    said = 0.0
    weight = float(explain["text_weight"])
    for name, value, share, placed in (
        ("Words", explain["text"], first * weight, _placed(explain["text_rank"], "by words")),
        ("Meaning", explain["vector"], first * (1 - weight),
         _placed(explain["vector_rank"], "by meaning")),
        ("Closer look", late, late_weight, ", word by word in context"),
    ):  # fmt: skip
        if value is not None:
            said += share * value
            yield _Reached(name, f"{value:.3f} × {percent(share)}{placed}", said)
    if explain["question"]:
        yield _of_question(explain, said)


def _of_question(explain: Mapping[str, Any], said: float) -> _Reached:
    weight = float(explain["question_weight"])
    value = weight * float(explain["question"]) ** QUESTION_POWER
    how = f"{explain['question']:.3f}^{QUESTION_POWER:g} × {percent(weight)} = {value:.3f}"
    then = "replaces its text, which fits less" if value > said else "its text fits better"
    return _Reached("A question that it answers", f"{how}: {then}", max(said, value))


def _of_its_surroundings(explain: Mapping[str, Any]) -> Iterator[_Reached]:
    """Yield what the session, a named agent and links change, and the match that results."""
    own, turn, fused = float(explain["own"]), float(explain["turn"]), float(explain["fused"])
    agent = float(explain["agent"])
    if explain["context"]:
        context = float(explain["context"])
        how = f"{context:.3f} × the {1 - own:.3f} missing to 1; the turns around it"
        yield _Reached("Neighbours", how, own + (1 - own) * context)
    if agent != 1:
        yield _Reached("Agent", f"× {agent:.2f}: the query names another agent", turn)
    direct = float(explain.get("direct", fused))
    if explain["session"] > turn and explain["session_weight"]:
        share, best = percent(explain["session_weight"]), explain["session"]
        yield _Reached("Session", f"{share} of the way to {best:.3f}, its session’s best", direct)
    if explain.get("graph_activation"):
        yield _of_links(explain, direct, fused)
    yield _Reached("Match", "how well it fits the query", fused, is_sum=True)


def _of_links(explain: Mapping[str, Any], direct: float, fused: float) -> _Reached:
    best, activation = float(explain["best_direct"]), float(explain["graph_activation"])
    how = f"{best:.3f} × ({fits_of(direct, best):.3f} × {activation:.3f})^{1 / ROOT:g}"
    return _Reached("Links", f"{how}: how it fits, and how far links lead to it", fused)


def _of_trust(explain: Mapping[str, Any], score: float) -> Iterator[_Reached]:
    """Yield the factors that multiply the match, and the score."""
    value = float(explain["fused"])
    repeats = explain.get("repeats")
    for name, factor, how in (
        ("Trust", explain["provenance_weight"], "in who said it"),
        ("Lowered by the janitor", explain["weight_factor"], "as it was of no use"),
        ("Confidence", explain["confidence_term"],
         f"as its writer was {percent(explain['confidence'])} sure{_lowered(explain)}"),
        ("Freshness", explain["freshness"], "falls with age, to 0.85 at least"),
        ("Diversity", explain["diversity"],
         "it repeats a better one" if repeats else "it repeats none of the better ones"),
    ):  # fmt: skip
        value *= factor
        if factor != 1 or name != "Lowered by the janitor":
            yield _Reached(name, f"× {factor:.3f}, {how}", value)
    yield _Reached("Score", "the sum of all changes", score, is_sum=True)


def _lowered(explain: Mapping[str, Any]) -> str:
    return "" if explain["confidence_factor"] == 1 else ", lowered by the janitor"


def _placed(rank: int | None, how: str) -> str:
    return f", place {rank} {how}" if rank else ""
