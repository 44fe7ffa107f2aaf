"""Tell whether a statement is of one more thing of a kind: "another ferry", "also on Thursdays".

What comes on top of something contradicts nothing that was said of the rest.
"""

from __future__ import annotations

import re
from typing import Final

_ONE_MORE: Final = re.compile(
    r"\b(?:also|additionally|besides|furthermore|likewise|another|additional|further|"
    r"in\saddition|one\smore|as\swell(?!\sas\b)|an?\s(?:second|third|fourth|fifth|sixth))\b|"
    r"\btoo(?=\W*$|[.,;])",
    re.IGNORECASE,
)


_DENIED: Final = re.compile(r"\b(?:not?|never|nobody|nothing|cannot)\b|n['’]t\b", re.IGNORECASE)


def is_one_more(a: str, b: str) -> bool:
    """Return whether just one of two texts says that what it tells comes on top of the rest."""
    return _adds(a) != _adds(b)


def _adds(text: str) -> bool:
    """Return whether a text adds something: not "we do not sell shoes a second time"."""
    return bool(_ONE_MORE.search(text)) and not _DENIED.search(text)
