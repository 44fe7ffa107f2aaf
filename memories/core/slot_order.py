"""Turn round sentences that put the value first: "It was in Remol that Ana was born"."""

from __future__ import annotations

import re
from typing import Final

_PLACE: Final = r"(?:city|town|place|village)"
_WHERE: Final = r"(?:where|in\swhich|when)"
_VALUE: Final = r"(?P<value>[^,;:]{1,60}?)"
_REST: Final = r"(?P<rest>[^,;:]{3,120}?)"
_IS: Final = r"\s(?:is|was)\s"
_FORMS: Final = tuple(
    map(
        re.compile,
        (
            rf"^It{_IS}(?P<prep>in|at|from)\s{_VALUE}\sthat\s{_REST}$",
            rf"^The\s(?:{_PLACE}|year)\s{_WHERE}\s{_REST}{_IS}(?P<value>[A-Z0-9][^,;:]{{1,60}})$",
            rf"^{_VALUE}{_IS}(?:the\s(?:{_PLACE}|year)\s)?{_WHERE}\s{_REST}$",
            rf"^{_VALUE}{_IS}the\s{_PLACE}\s{_REST}\sin$",
            rf"^{_VALUE}{_IS}the\s[a-z][a-z\s]{{2,30}}\sthat\s{_REST}\s(?P<prep>in|into|on|at|for)$",
            rf"^(?P<value>\d{{4}}){_IS}the\syear\s{_REST}$",
            rf"^The\s[a-z]{{3,20}}\s(?P<prep>in|into|on|at|to|from|under|with|for)\swhich\s{_REST}{_IS}"
            rf"{_VALUE}$",
            rf"^The\s\w{{3,20}}\s(?:that\s|which\s)?(?P<rest>[A-Z][^,;:]{{3,80}}\s[a-z]{{3,20}})\s"
            rf"(?P<prep>at|for|in|on|with){_IS}{_VALUE}$",
        ),
    )
)
_AGENT: Final = r"(?:the\s[a-z]{3,20}\s(?:that|which|who)|who)"  # "the company that"
_AMOUNT: Final = r"\d[\d.,]{0,12}\s?[a-z]{1,12}"
_PLAIN: Final = (
    (re.compile(r"^(?:By\sdefault|Currently|At\sthe\smoment|Normally),?\s(?=\S)"), ""),
    (re.compile(r"^The\s[a-z]{3,20}\s(?:named|called)\s(?=\S{1,40}\s(?:is|was)\sthe\s)"), ""),
    (re.compile(rf"\sis\s(?P<n>{_AMOUNT})\s(?:tall|high)$"), r" has a height of \g<n>"),
    (re.compile(rf"\sis\s(?P<n>{_AMOUNT})\slong$"), r" has a length of \g<n>"),
    (re.compile(rf"\sis\s(?P<n>{_AMOUNT})\swide$"), r" has a width of \g<n>"),
    (re.compile(rf"\sis\s(?P<n>{_AMOUNT})\sdeep$"), r" has a depth of \g<n>"),
    (re.compile(r"\s(?:currently|presently)(?=\s[a-z])"), ""),
    (
        re.compile(
            r"^(?:The|Our)\s[a-z]{3,20}\s(?:that|which|who)\s(?P<rest>[a-z]{3,20}\s[^,;:]{2,80}?)"
            r"\s(?:is|was)\s(?P<value>[^,;:]{1,60})$"
        ),
        r"\g<value> \g<rest>",
    ),
    (re.compile(rf"\s(?:is|was)\s{_AGENT}\s(?=[a-z]{{3,20}}\s)"), " "),
    (
        re.compile(
            r"^In\s(?P<of>[^,;:]{3,80}),\s(?P<value>[^,;:]{1,40}?)\sis\s(?P<what>the\s[^,;:]{3,60})$"
        ),
        r"\g<value> is \g<what> of \g<of>",
    ),
    (
        re.compile(r"^You\s(?:will\s|can\s)?find\s(?P<thing>[^,;:]{3,120}?)\s(?=(?:in|on|at)\s)"),
        r"\g<thing> is ",
    ),
    (
        re.compile(r"^The\syear\s(?P<year>\d{4})\ssaw\sthe\sbirth\sof\s(?P<who>[^,;:]{2,80})$"),
        r"\g<who> was born in \g<year>",
    ),
    (re.compile(r"\s(?:is|are)\sgoverned\sfrom\sits\scapital\s"), " has its capital in "),
    (re.compile(r"\s(?:is|are)\sin\scharge\sof\s"), " leads "),
    # "The post of treasurer at X is held by Y", "The ownership of X lies with Y"
    (
        re.compile(
            r"^The\s(?:post|role|office|position|job)\sof\s(?=[^,;:]{3,120}\sis\sheld\sby\s)"
        ),
        "The ",
    ),
    (re.compile(r"(?<=\S)\sis\sheld\sby\s(?=[A-Z])"), " is "),
    (re.compile(r"\sholds\sthe\s(?:post|role|office|position|job)\sof\s"), " is the "),
    (
        re.compile(r"^(?P<value>[^,;:]{1,60}?)\sis\shome\sto\s(?P<rest>the\s[^,;:]{3,80})$"),
        r"\g<rest> is in \g<value>",
    ),
    (
        re.compile(
            r"^(?:The\s)?(?:[Oo]wnership\sof|[Rr]esponsibility\sfor)\s(?P<of>[^,;:]{3,120}?)\s"
            r"(?:lies|rests|is)\swith\s"
        ),
        r"The owner of \g<of> is ",
    ),
    (re.compile(r"^By\s(?P<by>[a-z]{3,20}),?\s(?P<of>[^,;:]{3,120})$"), r"\g<of> by \g<by>"),
    (re.compile(r"^(?:The\s)?[Dd]ata\s(?:for|of)\s(?=[^,;:]{3,80}\sis\s)"), ""),
    (re.compile(r"\sand\s(?:nothing|nobody|nowhere|no\sone)\selse$"), ""),
    (re.compile(r"\s(?:alone|only|outright|directly|entirely|exclusively)(?=\s|$)"), ""),
    (
        re.compile(r"\s(?:serves|acts|works|is\sserving|is\sacting)\sas\s(?:the\s)?(?!an?\s)"),
        " is the ",
    ),
    (
        re.compile(
            r"^The\sdeath\sof\s(?P<who>[^,;:]{2,80}?)\s(?:occurred|took\splace|was|is)\s(?=in\s)"
        ),
        r"\g<who> died ",
    ),
    (re.compile(r"\spassed\saway\s"), " died "),
    (re.compile(r"['’]s?\s(?:death\soccurred|life\sended)\s"), " died "),
    (re.compile(r"\s(was|were|is|are)\s(?:first|originally|currently|now)\s(?=\w+ed\b)"), r" \1 "),
)


def in_plain_order(sentence: str) -> str:
    """Return a sentence with the thing before what is said of it, where its form is known."""
    found = next((match for form in _FORMS if (match := form.match(sentence))), None)
    plain = sentence
    if found:
        prep = found.groupdict().get("prep") or "in"
        plain = f"{found['rest']} {prep} {found['value']}"
    for pattern, replacement in _PLAIN:
        plain = pattern.sub(replacement, plain, count=1)
    return plain
