"""Cues that a text sets a bound ("only", "at most") or leaves it free ("whenever you like").

A rule and its lifting share few words: "Deployed on Wednesdays only", "on whatever day they like".
Either cue alone says little, so they decide nothing; they are features of
`memories/core/pair_features.py`. Texts are collapsed (`memories/core/spelling.py`).
"""

from __future__ import annotations

import re
from typing import Final

_WHO: Final = r"(?:you|they|we|he|she|it|one)"
_FREE: Final = re.compile(
    r"\b(?:whatever|whichever|whenever|wherever|whoever|whomever|no\smatter|regardless|"
    r"irrespective|at\swill|at\sany\s(?:time|hour|moment)|any\s(?:time|day|hour|one|body|where)|"
    rf"any(?:one|body|where|thing|how)|every(?:one|body)|{_WHO}\s(?:likes?|pleases?|wish(?:es)?)|"
    r"(?:does|do)(?:\snot|n['’]t)\smatter|round\sthe\sclock|all\s(?:day|week|year)|day\sor\snight|"
    r"every\sday|without\sasking|for\sthemselves|of\stheir\sown|all\s(?:of\s)?(?:the|them|our))\b",
    re.IGNORECASE,
)
_LIMIT: Final = (
    r"only|never|(?:may|must)\snot|cannot|at\sthe\slatest|at\smost|no\smore\sthan|nobody|no\sone|"
    r"solely|just|alone|except|unless"
)
_LIMITED: Final = re.compile(rf"\b(?:{_LIMIT})\b", re.IGNORECASE)
_BOUND: Final = re.compile(
    rf"\b(?:{_LIMIT}|must|(?:has|have)\sto|needs?|until|before|"
    r"by\s(?:\d|noon|midnight|half|the\send|\w{3,6}day))",
    re.IGNORECASE,
)


def sets_limit(a: str, b: str) -> bool:
    """Return whether the second text alone restricts what it says to some or to an amount."""
    return bool(_LIMITED.search(b)) and not _LIMITED.search(a)


def lifts_bound(a: str, b: str) -> bool:
    """Return whether the second text leaves free what the first one, perhaps, binds."""
    is_bound = _BOUND.search(a) and not _FREE.search(a)
    return bool(is_bound and _FREE.search(b) and not _BOUND.search(b))
