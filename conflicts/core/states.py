"""Parse named states of a thing over time: "X has status Y", "phase of X: Y".

States are expected to change, so different states in a row are progress. A return to an earlier
state that no text mentions is a reversal, also when the thing has changed again since.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from memories.core.sentence_case import in_mid_sentence

MAX_CHARS: Final = 200  # of a text that declares a state and nothing else
_ATTRIBUTE = r"(?P<attribute>status|state|phase|stage|lifecycle|maturity)"
_VALUE = r"[\"'“‘]?(?P<value>[\w][\w /&+-]{0,40}?)[\"'”’]?\s?[.!]?\s?$"
# "Terraform state is kept in S3", "is in S3" says where a thing named "state" is.
_WHERE = (
    r"(?!\w{1,20}(?:ed|pt|ld|en)\s(?:in|on|at|by|with|inside)\b"
    r"|(?:in|on)\s(?-i:[A-Z]\w{0,20}(?:\d|\s[A-Z])))"
)
_MENTION = re.compile(r"\b(?:status|state|phase|stage|lifecycle|maturity)\b", re.IGNORECASE)
_FORMS = (
    re.compile(
        rf"^\s?(?P<subject>.{{1,80}}?)\s(?:has|have|holds|is\sin|is\sat|is\son|is\snow\sin|in)"
        rf"\s(?:the\s)?{_ATTRIBUTE}(?:\sof|\s?[:=])?\s{_VALUE}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^\s?(?:the\s)?(?:current\s)?{_ATTRIBUTE}\s(?:of|for)\s(?P<subject>.{{1,80}}?)"
        rf"\s?(?:\sis|:|=)\s?(?:now\s|currently\s)?{_VALUE}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^\s?(?P<subject>.{{1,80}}?)(?<!\sof)(?:['’]s)?\s?[:,]?\s(?:current\s)?{_ATTRIBUTE}"
        rf"\s?(?:\sis|:|=)\s?(?:now\s|currently\s)?{_WHERE}{_VALUE}",
        re.IGNORECASE,
    ),
)
_ARTICLE = re.compile(r"^(?:the|our|a)\s", re.IGNORECASE)
_RETURN = re.compile(r"^(?:back\s(?:to|in|at)\s)|\s(?:again|once\smore)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ThingState:
    """The state that a fact gives to a thing; ``key`` is thing and attribute."""

    key: tuple[str, str]
    subject: str
    attribute: str
    value: str
    written: str
    is_announced_return: bool


def state_of(text: str) -> ThingState | None:
    """Return the state that ``text`` declares, when it declares one and nothing else."""
    if len(text) > MAX_CHARS or not _MENTION.search(text):
        return None
    for form in _FORMS:
        match = form.match(text)
        if match:
            subject = _ARTICLE.sub("", match["subject"].strip())
            if match.start("subject") == match.start() and subject == match["subject"]:
                subject = in_mid_sentence(subject)
            attribute, stated = match["attribute"].lower(), match["value"].strip()
            written = _RETURN.sub("", stated).strip() or stated
            key = (" ".join(subject.lower().split()), attribute)
            value = " ".join(written.lower().split())
            return ThingState(key, subject, attribute, value, written, written != stated)
    return None


def find_returns(
    history: Sequence[tuple[int, ThingState]],
) -> Iterator[tuple[tuple[int, ...], ThingState, ThingState]]:
    """Yield where a state's history comes back to an earlier value unannounced.

    Parameters
    ----------
    history
        ``(position, state)`` of one thing and attribute, oldest first.

    Yields
    ------
    (positions, newest, between)
        Positions from the first fact of a returning value to the newest fact, the newest state,
        and the last state that differed from it. At most one a history.
    """
    changes: list[tuple[int, ThingState]] = []
    for entry in history:
        if not changes or changes[-1][1].value != entry[1].value:
            changes.append(entry)
    starts = [
        earlier
        for j, (_, state) in enumerate(changes)
        for earlier in range(j - 1)
        if changes[earlier][1].value == state.value and not state.is_announced_return
    ]
    if starts:
        path = changes[min(starts) :]
        newest = path[-1][1]
        yield tuple(position for position, _ in path), newest, path[-2][1]
