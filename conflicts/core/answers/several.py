"""Questions with several true answers at once, so that another answer adds to what was said.

"Who works on Mondays?", "What does the pack contain?", "Where can one park?". General English: the
form of the question and its verb tell. An answer that leaves no room for others ("only Ana")
contradicts other answers all the same.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_KEPT: Final = 8192
# Verbs whose object is a list: what a pack contains, what members like.
_LISTED: Final = (
    r"bring|buy|carry|contain|cook|cover|do|eat|enjoy|fear|find|get|give|grow|handle|have|hold|include|"
    r"involve|know|learn|like|make|mention|need|offer|order|produce|provide|read|receive|say|see|"
    r"sell|serve|stock|support|teach|tell|think|want|wear|work\s(?:on|with)"
)
# What one of several people does: sits on a board, helps with a move.
_JOINED: Final = (
    r"sits?|plays?|sings?|lives?|works?|helps?|attends?|comes?|joins?|visits?|uses?|needs?|likes?|"
    r"knows?|speaks?|belongs?|takes?\spart|goes|wants?|has\san?|have\san?|contributes?|eats?"
)
# Where people and things are at one time, or what is there beside others.
_PRESENT: Final = (
    r"in(?!\s(?:charge|command|control)\b)|on(?!\s(?:call|duty|standby|watch)\b)|inside|under|"
    r"behind|wrong|missing|new|left|allergic|absent|available|present|involved|interested|"
    r"part\sof|among|next(?=\W*$)|planned|going\son|needed|required"
)
# Singular nouns that come in numbers: another bug may block the release, too.
_ONE_OF_MANY: Final = (
    r"bug|issue|problem|risk|error|task|question|step|thing|complaint|request|reason|idea|topic|"
    r"change"
)
# What happens once, so that the past tells one answer: a bridge is built once.
_ONCE: Final = (
    r"built?|found(?:ed)?|wrote|written?|write|invent(?:ed)?|design(?:ed)?|install(?:ed)?|"
    r"start(?:ed)?|beg[iau]n|born|died?|create[d]?|compose[d]?|paint(?:ed)?|sign(?:ed)?|open(?:ed)?|"
    r"launch(?:ed)?|end(?:ed)?|closed?|introduced?|approved?|chosen|choose|chose|caused?"
)
# No noun, as in "which issue tracker".
_FINITE: Final = (
    r"(?:is|do|did|was|were|had|have|can|could|will|would|should|may|must|\w{2,20}(?:s|ed))"
)
_SEVERAL: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # "Which formats are accepted?", "What languages does Ana speak?"
        r"\b(?:which|what)\s(?!do\s)(?:\w{1,30}\s){0,2}?\w{2,30}s\s(?:do|are|have|can|were|may)\b",
        r"\b(?:which|what)\s\w{2,30}(?<!s)(?<!u)(?<!i)s\sdoes\b",
        r"\b(?:who|what)\s(?:are|were)\b",
        r"^\W*(?:what|who|where|how)\s(?:else\s)?(?:can|could|might)\b",
        r"^\W*what\s(?:should|must|may)\s(?!happen\b)",
        rf"^\W*what\s(?:do|does|will|would)\s.{{1,60}}\s(?:{_LISTED})\s*\?*$",
        rf"^\W*(?:what|who)\s(?:is|are|was|were|else\sis)\s(?:{_PRESENT})\b",
        rf"^\W*who\s(?:{_JOINED})\b",
        rf"^\W*(?:which|what)\s(?:\w{{1,30}}\s)?(?:{_ONE_OF_MANY})\s(?={_FINITE}\b)",
        r"^\W*what\s(?:blocks|causes|delays|prevents|affects|influences|helps|speaks)\b",
        r"^\W*what\shappens\s(?:on|at|in|next|today|tonight|tomorrow|this|every|around)\b",
        r"^\W*where\sdo\s(?:we|you|they|people)\s(?:have|meet|go|come\sfrom|live)\b",
        r"^\W*where\sdo\s(?:\w{1,30}\s){1,3}(?:live|come\sfrom)\b",
        r"\bwhat\b.{1,80}\b(?:for|with|about|against)\s?\?",
        # What is so at one moment alone.
        r"^\W*how\s(?:is|are|was|were)\s[\w'’-]{1,30}(?:\s(?:doing|feeling|going))?\s*\?*$",
        r"^\W*how\sfar\s(?:are|is)\b|^\W*what\s(?:is|are|was)\s.{1,60}\s(?:like|doing|up\sto)\s*\?*$",
        r"^\W*what\s(?:is|are)\s.{1,60}\sworking\son\b",
    )
)  # fmt: skip
_PAST: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^\W*(?:[a-z]{2,5}\s)?(?:who|what|which|where|how|when|whom)\b"
        r"(?:\s[\w'’-]{1,30}){0,3}?\s(?:did|was|were)\b",
        r"^\W*(?:who|(?:what|which|how\smany)\s[\w'’-]{1,30}(?:\s[\w'’-]{1,30})?)\s"
        r"(?:came|won|helped|called|visited|complained|asked|attended|went|met|reported|ordered|"
        r"bought|sold|paid|joined|left|broke|failed)\b",
    )
)
_HAPPENS_ONCE: Final = re.compile(rf"\b(?:{_ONCE})\b", re.IGNORECASE)
# A year, an ordinal or a code names one event: "the 2024 retreat".
_NAMED_EVENT: Final = re.compile(r"\b(?:\d{1,4}|first|last|second|third|original)\b|\b[A-Z]+-?\d")
_NO_ROOM: Final = re.compile(
    r"\b(?:only|alone|nobody\selse|no\sone\selse|nothing\selse|exclusively|solely|sole|just)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=_KEPT)
def has_several_answers(question: str) -> bool:
    """Return whether a question may have several answers at once, so that others add to one."""
    return any(pattern.search(question) for pattern in _SEVERAL)


@lru_cache(maxsize=_KEPT)
def asks_of_past_events(question: str) -> bool:
    """Return whether a question asks what happened, perhaps more than once: "Who called?"."""
    if not any(pattern.search(question) for pattern in _PAST):
        return False
    return not (_HAPPENS_ONCE.search(question) or _NAMED_EVENT.search(question))


def leaves_no_room(text: str) -> bool:
    """Return whether a text excludes other answers: "only Ana", "nothing else"."""
    return bool(_NO_ROOM.search(text))
