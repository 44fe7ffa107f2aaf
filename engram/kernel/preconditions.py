"""Preconditions of writes: the version that must be stored (`If-Match`, `If-None-Match`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from engram.kernel.causes import PRECONDITION_FAILED
from engram.kernel.refusals import InvalidError, StaleError

IF_MATCH: Final = "If-Match"
IF_NONE_MATCH: Final = "If-None-Match"
ANY: Final = "*"
HEADER_MAX_CHARS: Final = 2_000
# `*`, or entity tags; commas in tags are not read, because no tag of ours has one.
HEADER_PATTERN: Final = r'^(\*|(W/)?"[!#-+\--~]*"([ \t]*,[ \t]*(W/)?"[!#-+\--~]*")*)$'
_HEADER = re.compile(HEADER_PATTERN)
_TAG = re.compile(r'(W/)?("[!#-+\--~]*")')


@dataclass(frozen=True, slots=True)
class Precondition:
    """What must be stored for a write to happen; None demands nothing.

    `match` are the tags of which the stored version must have one (`*`: any version), `none_match`
    those of which it must have none (`*`: nothing may be stored).
    """

    match: tuple[str, ...] | None = None
    none_match: tuple[str, ...] | None = None

    def demand(self, tag: str | None) -> None:
        """Raise `StaleError` unless a thing with this tag may be written; None: nothing is stored.

        As RFC 9110 says, weak tags equal none in `If-Match`.
        """
        if self.match is not None and not _is_named(self.match, tag):
            is_gone = "There is none." if tag is None else f"It is {tag} now."
            raise StaleError(
                f"If-Match names another version. {is_gone}", cause=PRECONDITION_FAILED
            )
        if self.none_match is not None:
            strong = tuple(one.removeprefix("W/") for one in self.none_match)
            if _is_named(strong, tag):
                raise StaleError(
                    f"If-None-Match names what is stored: {tag}.", cause=PRECONDITION_FAILED
                )


NOTHING_DEMANDED: Final = Precondition()


def precondition_of(headers: Mapping[str, str]) -> Precondition:
    """Return the precondition that headers state; raise `InvalidError` for what is none."""
    return Precondition(_tags(headers, IF_MATCH), _tags(headers, IF_NONE_MATCH))


def _is_named(tags: tuple[str, ...], tag: str | None) -> bool:
    return tag is not None and (ANY in tags or tag in tags)


def _tags(headers: Mapping[str, str], name: str) -> tuple[str, ...] | None:
    if name not in headers:
        return None
    text = headers[name].strip()
    if len(text) > HEADER_MAX_CHARS or _HEADER.fullmatch(text) is None:
        raise InvalidError(
            name, 'Must be * or entity tags in quotes, such as "…-3", separated by commas.'
        )
    if text == ANY:
        return (ANY,)
    return tuple("".join(match.groups("")) for match in _TAG.finditer(text))
