"""Names of software in lower case, with a hyphen or underscore: "ledger-sync", "orders_archive"."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

MAX_CHARS: Final = 600
CODE: Final = r"[a-z][a-z0-9]{0,30}(?:[-_.][a-z0-9]{1,30}){1,5}"
_CODE: Final = rf"(?P<code>{CODE})"
# Not "billing-api is the owner of", "is responsible for": there the name is the value.
_BE: Final = r"(?:is|are|was|were|has|had|will)\b(?!\s(?:the|our|responsible)\b)"
# A noun behind it makes an adjective of it: "of read-only replicas", "part-time staff are".
_SUBJECTS: Final = (
    re.compile(
        rf"(?:^|,\s){_CODE}(?:['’]s\s|\s(?:{_BE})\b|\s[a-z]{{2,20}}s\s(?:at|in|on|to|from|for|with|by|\d))"
    ),
    re.compile(
        rf"\bof\s{_CODE}(?=['’]|[.,]?$|,\s|\s(?:{_BE}|in|on|at|for)\b|\s[a-z]{{2,20}}s\s(?:{_BE}|on|at|in)\b)"
    ),
)


def other_code(a: str, b: str) -> str:
    """Return as a reason two names of software that texts are about, "" without such.

    Behind "by", "to" or "in" a name may be the value: "Refunds are handled by billing-api".
    """
    if max(len(a), len(b)) > MAX_CHARS:
        return ""
    a, b = a.replace("_", "-"), b.replace("_", "-")
    mine, theirs = _codes_of(a), _codes_of(b)
    are_shared = any(name in b for name in mine) or any(name in a for name in theirs)
    if not mine or not theirs or are_shared:
        return ""
    return f"other subject: {min(mine)} vs {min(theirs)}"


@lru_cache(maxsize=8192)
def _codes_of(text: str) -> frozenset[str]:
    text = text.strip()
    return frozenset(match["code"] for form in _SUBJECTS for match in form.finditer(text))
