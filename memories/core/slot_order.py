"""Turn round sentences that put the value first: "It was in Remol that Ana was born"."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_WHERE: Final = r"(?:the\s(?:city|town|place|village|year)\s)?(?:where|in\swhich|when)"
_VALUE: Final = r"[^,;:]{1,60}?"
_REST: Final = r"[^,;:]{3,120}?"
# The pattern of a sentence, and how its parts make the plain one.
_FORMS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...]] = (
    (
        re.compile(rf"^It\s(?:is|was)\s(?P<prep>in|at|from)\s(?P<value>{_VALUE})\sthat\s(?P<rest>{_REST})$"),
        lambda found: f"{found['rest']} {found['prep']} {found['value']}",
    ),
    (
        re.compile(rf"^The\s(?:city|town|place|village|year)\s(?:where|in\swhich|when)\s(?P<rest>{_REST})\s(?:is|was)\s(?P<value>[A-Z0-9][^,;:]{{1,60}})$"),
        lambda found: f"{found['rest']} in {found['value']}",
    ),
    (
        re.compile(rf"^(?P<value>{_VALUE})\s(?:is|was)\s{_WHERE}\s(?P<rest>{_REST})$"),
        lambda found: f"{found['rest']} in {found['value']}",
    ),
    (
        re.compile(rf"^(?P<value>{_VALUE})\s(?:is|was)\sthe\s(?:city|town|place|village)\s(?P<rest>{_REST})\sin$"),
        lambda found: f"{found['rest']} in {found['value']}",
    ),
    (
        re.compile(rf"^(?P<value>\d{{4}})\s(?:is|was)\sthe\syear\s(?P<rest>{_REST})$"),
        lambda found: f"{found['rest']} in {found['value']}",
    ),
)  # fmt: skip
_PLAIN: Final = (
    (re.compile(r"\s(?:serves|acts|works)\sas\s(?:the\s)?"), " is the "),
    (re.compile(r"\spassed\saway\s"), " died "),
    (re.compile(r"['’]s?\sdeath\soccurred\s"), " died "),
    (re.compile(r"\s(was|were|is|are)\s(?:first|originally|currently|now)\s(?=\w+ed\b)"), r" \1 "),
)


def in_plain_order(sentence: str) -> str:
    """Return a sentence with the thing before what is said of it, where its form is known."""
    found = next(((make, m) for form, make in _FORMS if (m := form.match(sentence))), None)
    plain = found[0](found[1]) if found else sentence
    for pattern, replacement in _PLAIN:
        plain = pattern.sub(replacement, plain, count=1)
    return plain
