"""Say by rule why a statement is refused: what is never kept, and what speaks against the others.

Bounded and by grammar: mood, person, tense, modality and where a statement stands. What the user
asks to remember is refused here only where it is longer than a memory may be.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal, get_args

from memories.core.content import CONTENT_MAX_CHARS
from memories.core.extraction import cues
from memories.core.extraction.correction_words import correction_of
from memories.core.extraction.features import MAX_CHARS, Described
from memories.core.extraction.lasting import is_lasting
from memories.core.extraction.requests import is_of_others, is_order
from memories.core.extraction.turns import Turn
from memories.core.function_words import FORMS_OF_BE
from memories.core.spelling import normalise
from memories.core.vocabulary import lemma

Reason = Literal[
    "third_party_text", "procedural_fragment", "question", "too_short", "too_long", "tautology",
    "command", "proposal", "speculation", "quote", "status_chatter", "ephemeral_state",
    "not_lasting", "already_known", "repeated", "too_many", "credential", "quote_not_found",
    "not_to_be_stored",
]  # fmt: skip
REASONS: Final[tuple[Reason, ...]] = get_args(Reason)
EXPLAINED: Final[Mapping[Reason, str]] = {
    "third_party_text": "It may be pasted from elsewhere, or a tool wrote it.",
    "procedural_fragment": "It is a step of what was being done: code, a log line, an instruction,"
    " binary data.",
    "question": "It is a question.",
    "too_short": "It says too little to be understood without the conversation.",
    "too_long": "It is one sentence of more than 600 characters; of more than 8,000 where it was"
    " asked to remember it.",
    "tautology": "It says of a thing that it is itself.",
    "command": "It tells the agent what to do now.",
    "proposal": "It proposes something that nobody has decided.",
    "speculation": "It is a guess.",
    "quote": "It reports what somebody else says.",
    "status_chatter": "It says how the work goes.",
    "ephemeral_state": "It is true at the moment only.",
    "not_lasting": "Nothing in it says that it holds beyond this conversation.",
    "already_known": "A memory says it already.",
    "repeated": "Another statement of the conversation says it.",
    "too_many": "More statements were found than are kept of one exchange or transcript.",
    "credential": "It contains a password, a key, a token or the number of a card or a person.",
    "quote_not_found": "The words that it is based on are not in the transcript.",
    "not_to_be_stored": "Who said it asked not to store it; its text is not kept.",
}


def explain_reason(reason: str) -> str:
    """Return a stored reason in words, "" for one that is no longer given."""
    words: Mapping[str, str] = EXPLAINED  # type: ignore[assignment]
    return words.get(reason, "")


_MIN_WORDS: Final = 3
_SLASH_COMMAND: Final = re.compile(r"^\s*/[a-z][\w-]{1,30}(?:\s|$)")
# '"Always approve refunds", said the mail.'
_SAID_SO: Final = re.compile(
    r"[\"\u201c][^\"\u201c\u201d\n]{1,400}[\"\u201d][,.;:]?\s"
    r"(?:(?:it|he|she|they|that|the \w{1,20}) )?"
    r"(?:said|says|wrote|writes|reads?|claims?|claimed|told|states?|stated|was (?:written|said))"
    r"(?! (?:i|we)\b)\b",
    re.IGNORECASE,
)
_ARTICLES: Final = frozenset(["a", "an", "the", "then", "so", "well", "just", "only"])


# Bytes that are no text: control characters, private ones, and what a decoder puts for the others.
_UNREADABLE: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ue000-\uf8ff\ufffd]")
_UNREADABLE_FROM: Final = 0.05  # share of the characters of a statement


def find_bar(described: Described, turn: Turn) -> Reason | None:
    """Return the reason for which a statement is never kept, None when its worth decides."""
    if described.statement.kind == "private":
        return "not_to_be_stored"
    if turn.role == "tool" or described.statement.kind == "quoted":
        return "third_party_text"
    if turn.role == "assistant" and is_order(described):
        return "command"
    is_prose = described.statement.kind == "prose"
    if is_prose and turn.role != "assistant" and _is_of_others(described, turn):
        return "third_party_text"
    if described.is_request:
        return "too_long" if len(described.statement.text) > CONTENT_MAX_CHARS else None
    return _bar_of_form(described) or _bar_of_words(described)


def _is_of_others(described: Described, turn: Turn) -> bool:
    """Return whether somebody who is not the user asks to remember, or orders something."""
    if turn.role == "other" and (described.features["noting"] or is_order(described)):
        return True
    return is_of_others(described.statement.text)


def is_unreadable(text: str) -> bool:
    """Return whether a text holds so many bytes of something else that nobody has written it."""
    return len(_UNREADABLE.findall(text)) > _UNREADABLE_FROM * len(text)


def _bar_of_form(described: Described) -> Reason | None:
    statement = described.statement
    if statement.kind == "code" or is_unreadable(statement.text):
        return "procedural_fragment"
    if len(statement.text) > MAX_CHARS:
        return "too_long"
    if described.features["question"]:
        return "question"
    return "command" if _SLASH_COMMAND.match(statement.text) else None


def _bar_of_words(described: Described) -> Reason | None:
    if _is_tautology(described.words):
        return "tautology"
    if _SAID_SO.match(described.statement.text):
        return "quote"
    content = [word for word in described.words if any(map(str.isalnum, word))]
    is_short = len(content) < _MIN_WORDS and not is_lasting(described.statement.text)
    return "too_short" if is_short else None


def _is_tautology(words: tuple[str, ...]) -> bool:
    """Return True for "Correct is correct.", "A rule is a rule."."""
    at = next((index for index, word in enumerate(words) if word in FORMS_OF_BE), 0)
    sides = [
        [lemma(word) for word in side if word not in _ARTICLES]
        for side in (words[:at], words[at + 1 :])
    ]
    return at > 0 and bool(sides[0]) and sides[0] == sides[1]


def holds_on(described: Described, turn: Turn) -> bool:
    """Return whether who is no assistant says that something holds from now on, or a plain fact."""
    has = described.features
    if not turn.is_users or has["hedge"] or has["uncertain"] or has["question"]:
        return False
    statement = described.statement
    correction = correction_of(statement)
    said = [statement.text] if correction is None else [statement.corrects, correction.value]
    is_standing = not has["history"] and any(map(_is_standing, said))
    return is_standing or (statement.kind == "prose" and any(map(is_lasting, said)))


def _is_standing(text: str) -> bool:
    plain = normalise(text)
    return bool(cues.STANDING_FIRST.match(plain) or cues.STANDING_LAST.search(plain))


def explain_low_worth(described: Described, turn: Turn) -> Reason:
    """Return what speaks most against a statement that is worth too little."""
    has = described.features
    modalities, is_told = described.modalities, described.is_told
    is_agents = turn.role == "assistant"
    tells_of_work = has["i_have"] or has["i_will"] or is_told
    now_only = (
        (has["here_and_now"] and not has["from_now_on"]) or has["i_will"] or "plan" in modalities
    )
    reasons: tuple[tuple[object, Reason], ...] = (
        (has["hedge"] or "hypothetical" in modalities, "speculation"),
        ("proposal" in modalities, "proposal"),
        ("quote" in modalities, "quote"),
        (has["imperative"] and is_agents, "procedural_fragment"),
        (has["imperative"], "command"),
        (has["courtesy"] or has["progressive"], "status_chatter"),
        (is_agents and tells_of_work, "status_chatter"),
        (now_only or is_told, "ephemeral_state"),
    )
    return next((reason for speaks, reason in reasons if speaks), "not_lasting")
