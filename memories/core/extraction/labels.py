"""Read the label of a speaker at the beginning of a line: one pattern, and what may be a name."""

from __future__ import annotations

import re
from typing import Final, Literal

from memories.core.function_words import words_of

Role = Literal["user", "assistant", "other", "tool", "unknown"]

ROLES: Final[dict[str, Role]] = {
    "user": "user", "human": "user", "me": "user",
    "agent": "assistant", "assistant": "assistant", "ai": "assistant", "bot": "assistant",
    "model": "assistant", "system": "tool", "tool": "tool", "function": "tool",
}  # fmt: skip
LABEL_CHARS: Final = 130
_TOOLS: Final = frozenset(["tool", "function"])
_GIVEN: Final = frozenset(["output", "outputs", "result", "results", "response", "call", "calls"])
_DATE: Final = r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}"
_ZONE: Final = r"(?:Z|UTC|GMT|[+-]\d\d:?\d\d)"
_TIME: Final = rf"\d{{1,2}}:\d\d(?::\d\d(?:[.,]\d{{1,9}})?)?(?: ?[AaPp][Mm]\b)?(?: ?{_ZONE}\b)?"
# "2026-11-02T10:00:00Z ", "[2026-11-02 10:00] ", "[10:00] "; not a time alone, as in a schedule.
_STAMP: Final = (
    rf"(?:{_DATE}(?:T|,? ){_TIME}"
    rf"|[\[(](?:{_DATE}(?:(?:T|,? ){_TIME})?|{_TIME})[\])])"
    r"(?: ?[-\u2013|])?[ \t]{1,2}"
)
# "User: …", "**Agent**: …", "### Assistant", "[user] …", "Maya Okoro (09:12): …".
_LABEL: Final = re.compile(
    rf"[ \t]{{0,3}}(?P<stamp>{_STAMP})?"
    r"(?P<open>[*_#<\[]{1,4} ?)?(?P<name>[^\W\d_][\w.'-]{0,29}(?: [\w.'-]{1,29}){0,2})"
    r"(?: ?\((?P<aside>[\d:., -]{1,20})\))?"
    r"(?P<close>[*_>\]]{0,3})(?P<colon>:?[*_]{0,2})(?:[ \t]|$)"
)
# What heads a statement, or a part of a text, and names nobody.
_HEADS: Final = words_of(
    "note notes nb ps fyi btw todo reminder remember important decision decisions rule rules policy"
    " fact facts memo info update also ok okay so and please yes no right well correction lesson"
    " takeaway preference summary context background overview introduction task goal plan setup"
    " result output input example question answer reason draft problem solution change status"
    " conclusion appendix title subject budget deadline owner constraint requirement convention"
    " store save record keep add write don't hint warning caution option pros cons name role date"
    " step usage test default format style scope limit goal idea error err warn info debug trace"
    " notice fatal critical alert verbose log server client host path file url http https env"
    " version nginx docker git npm python"
)


def match_label(line: str) -> re.Match[str] | None:
    """Return the label that a line may begin with, with what stands around its name."""
    return _LABEL.match(line[:LABEL_CHARS])


def is_colon(found: re.Match[str]) -> bool:
    """Return whether a label ends with a colon."""
    return found["colon"].startswith(":")


def role_of(name: str) -> Role | None:
    """Return the role that a name is certainly of: "User", "tool", "Tool output"."""
    words = name.lower().split()
    is_given = len(words) > 1 and words[0] in _TOOLS and words[1] in _GIVEN
    return "tool" if is_given else ROLES.get(name.lower())


def names_program(found: re.Match[str]) -> bool:
    """Return whether a label with a colon is that of an assistant or a tool."""
    return is_colon(found) and role_of(found["name"]) in {"assistant", "tool"}


def names_another(found: re.Match[str]) -> bool:
    """Return whether a label with a colon names somebody who is not the user."""
    return names_program(found) or (is_colon(found) and names_somebody(found["name"]))


def style_of(found: re.Match[str]) -> tuple[bool, str]:
    """Return how a label is written: whether behind a time, and in which marks."""
    return found["stamp"] is not None, (found["open"] or "").strip()


def names_somebody(name: str) -> bool:
    """Return whether a label may be the name of a speaker: no role, and no word that heads a text.

    Names have capitals; the first word may be written in any way ("vendor: …").
    """
    first, *others = name.split()
    lower = first.lower()
    is_head = lower in _HEADS or lower.removesuffix("s") in _HEADS
    return role_of(name) is None and not is_head and all(word[:1].isupper() for word in others)
