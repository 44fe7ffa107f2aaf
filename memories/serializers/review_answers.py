"""What people are asked about a review, and what each of its answers does, in words."""

from __future__ import annotations

from typing import Final, NamedTuple

from memories.models import Review, ReviewKind

# The question beside the memory, and the one that quotes it, in lists.
_ASKED: Final[dict[ReviewKind, tuple[str, str]]] = {
    ReviewKind.SUPERSEDE: ("May {who} replace this?", "Replace {text}?"),
    ReviewKind.REPLACE: ("May {who} replace this?", "Replace {text} by another memory?"),
    ReviewKind.REVISE: ("May {who} change this?", "Change {text}?"),
    ReviewKind.FORGET: ("May {who} make Engram forget this?", "Forget {text}?"),
    ReviewKind.CLAIM: ("May {who} claim this?", "Accept the claim {text}?"),
    ReviewKind.REVIVE: ("May {who} bring this back?", "Bring {text} back?"),
    ReviewKind.SOURCE_FORGOTTEN: (
        "A source of this summary was forgotten. Forget the summary too?",
        "A source of {text} was forgotten. Forget this summary too?",
    ),
}
_EFFECTS: Final[dict[ReviewKind, str]] = {
    ReviewKind.SUPERSEDE: "The new statement is committed in the name of the requester; the present"
    " memory is superseded by it.",
    ReviewKind.REPLACE: "The present memory is superseded by the one whose wording is shown.",
    ReviewKind.REVISE: "The memory is changed in the requester's name; its former wording stays"
    " in its history.",
    ReviewKind.FORGET: "The memory is forgotten in the requester's name. It can be brought back.",
    ReviewKind.CLAIM: "The statement is committed as it is claimed, in the requester's name.",
    ReviewKind.REVIVE: "The memory is recalled again.",
    ReviewKind.SOURCE_FORGOTTEN: "The summary is forgotten too. It can be brought back.",
}
_UNCHANGED: Final = "Nothing changes. The requester may ask again."
_STAYS: Final = "The summary stays as it is."
# Kinds that forget a memory when accepted, and restore it when that is undone.
FORGETS: Final = frozenset({ReviewKind.SOURCE_FORGOTTEN, ReviewKind.FORGET})


class ReviewAnswer(NamedTuple):
    """One answer: its name in services, its label, what it does, and `keep` or `drop` as tone."""

    name: str
    label: str
    effect: str
    tone: str


def question_of(review: Review) -> str:
    """Return the question that a page asks beside the memory of a review."""
    return _ASKED[ReviewKind(review.kind)][0].format(who=review.actor_label or "the agent")


def question_about(review: Review, quoted: str) -> str:
    """Return the question of a review that quotes its memory or claim; "" is a forgotten text."""
    unnamed = "a forgotten statement" if review.memory_id is None else "a forgotten memory"
    asked = _ASKED[ReviewKind(review.kind)][1].format(text=quoted or unnamed)
    return asked[:1].upper() + asked[1:]


def answers_to(review: Review) -> tuple[ReviewAnswer, ReviewAnswer]:
    """Return yes and no to a review, with labels for its kind."""
    kind = ReviewKind(review.kind)
    is_flag, forgets = kind == ReviewKind.SOURCE_FORGOTTEN, kind in FORGETS
    yes = "Forget it too" if is_flag else "Forget it" if forgets else "Accept"
    no = "Keep it" if forgets else "Reject"
    return (
        ReviewAnswer("accept", yes, _EFFECTS[kind], "drop" if forgets else "keep"),
        ReviewAnswer(
            "reject", no, _STAYS if is_flag else _UNCHANGED, "keep" if forgets else "drop"
        ),
    )
