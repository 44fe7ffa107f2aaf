"""Ways of doing that exclude each other: to keep or to discard, to refuse or to accept.

Phrases rather than words, which the lexicon cannot hold. The detective reads
them over neighbours that tell of one thing in other words.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from memories.core.words import stem

DAY_PARTS: Final = "early or late in the day"
_FAMILIES: Final[dict[str, tuple[str, str]]] = {
    "kept or discarded": (
        r"keeps?|kept|retain\w*|stays?|stored|remains?|survives?|archived?|preserved?|goes\sback|"
        r"brings?\s(?:\w+\s){0,3}back|brought\sback|restor\w+|recover\w*",
        r"wip(?:e|es|ed)|delet\w+|purg\w+|shred\w*|binned|discard\w*|thrown?|remov\w+|left\sout|"
        r"leave\sout|empt(?:y|ies|ied)|nothing\sis\skept|cleared|destroyed|dropped|incinerated|"
        r"for\sgood|no\sway\sback|irrevers\w+|final",
    ),
    "refused or accepted": (
        r"reject\w*|refus\w+|den(?:y|ied|ies)|forbid\w*|forbidden|banned|prohibited|turned\saway|"
        r"sent\s(?:back|home)|not\s(?:permitted|allowed|accepted)|(?:do|does)\snot\s(?:take|accept)|"
        r"no\s\w+\s(?:is|are)\s(?:served|allowed|accepted)|off\slimits|must\snot|may\snot|"
        r"nobody\smay|keep\s(?:\w+\s){1,6}away\sfrom|not\stolerate",
        r"accept\w*|allow\w*|permit(?:s|ted)?|welcome|"
        r"are\sfine|is\sfine|approve[sd]|let\sin|serves?|pours?|may\s(?:come|eat|use|bring|enter|stay|"
        r"take|go|play|have)|can\s(?:come|bring|enter|stay)|is\sokay|feel\sfree|can\sbe\s(?:left|used|brought|taken|parked|entered)",
    ),
    "automatic or by hand": (
        r"automatic\w*|on\s(?:its|their)\sown|itself|unattended|by\sthemselves|scheduler|cron|"
        r"without\sanyone",
        r"by\shand|manual\w*|operator|press(?:es)?|button|on\srequest|only\swhen|restart|"
        r"somebody\shas\sto|someone\shas\sto|typed?\sin",
    ),
    "fixed or edited": (
        r"never\s(?:altered|changed|edited|touched|modified|corrected)|immutable|append.only|"
        r"read.only|cannot\sbe\s(?:changed|edited|altered)|frozen",
        r"edits?|edited|overwrit\w+|in\splace|alters?|rewrites?|corrects?|adjusts?",
    ),
    "once or repeatedly": (
        r"a\ssingle\stime|exactly\sonce|only\sonce|one\stime\sonly|never\stwice",
        r"more\sthan\sonce|repeated\w*|several\stimes|many\stimes|at\sleast\sonce|twice",
    ),
    "free or paid": (
        r"free\sof\scharge|no\scharge|nobody\s(?:is\scharged|pays)|on\sthe\shouse|for\sfree|"
        r"nothing\sis\scharged|at\sno\scost|we\spay|covered|(?:is|are)\sincluded|"
        r"included\sin\sthe\sprice|complimentary",
        r"charged|charges|(?<!no\s)costs?|fees?|billed|"
        r"(?:customers?|guests?|tenants?|patients?|they|you|parents|every(?:one|body)|members|visitors|"
        r"participants|attendees)\spays?|not\s(?:covered|included)|"
        r"does\snot\s(?:cover|reach|include)|at\s(?:their|his|her|your)\sown\sexpense",
    ),
    "needed or optional": (
        r"must|required|mandatory|obligatory|needs?\s(?:a|an|the)|always|compulsory|"
        r"accompanied\sby",
        r"optional|may\sskip|not\s(?:needed|required|necessary)|without\s(?:a|an|any)|no\sneed|"
        r"voluntary|up\sto\s(?:you|them)",
    ),
    "formal or familiar": (
        r"formal(?:ly)?|(?-i:Sie)|surnames?|last\snames?|politely|(?-i:vous|usted)",
        r"informal\w*|familiar|(?-i:du|tu)|first\snames?|first-name|casual\w*",
    ),
    "real or made up": (
        r"(?:production|live|real|prod|customer|actual)\s(?:dump|data|copy|records?)|"
        r"(?:dump|copy|snapshot|clone)\sof\s(?:the\s)?(?:production|prod|live)|anonymi[sz]ed|"
        r"real\s(?:people|customers?|users?|patients?)",
        r"synthetic|generated|invented|fake\w*|made[- ]up|dummy|fictitious|"
        r"(?:nothing|none|no\sone|nobody)\s(?:\w+\s){0,3}(?:from\s)?real",
    ),
    "refundable or not": (
        r"refunded|refundable|money\sback|paid\sback|reimbursed|returned\sto",
        r"not\srefund\w+|non-?refundable|no\srefunds?|forfeit\w*|not\s(?:returned|paid\sback)|"
        r"kept\sin\sany\scase",
    ),
    "used or never used": (
        r"(?:is|are)\sused|drawn\sfrom|taken\sfrom|trained\son|learns?\sfrom|fed\swith",
        r"never\s(?:used|touched|fed|taken|enter|train)\w*|not\sused|kept\sout\sof|excluded?",
    ),
    "cold or warm": (
        r"fridge|freezer|frozen|chilled|chiller|refrigerat\w+|on\sice|dry\sice|cold\sroom|"
        r"minus\s\w+",
        r"room\stemperature|ambient|warm|heated|oven|unrefrigerated|on\sthe\s(?:bench|shelf)",
    ),
    "staffed or alone": (
        r"is\sstaffed|at\sthe\sdesk|somebody\sis\sthere|round\sthe\sclock|"
        r"someone\sis\sthere|in\sattendance|supervised",
        r"(?:no|without)\sstaff|unstaffed|unmanned|self-?service|nobody\sis|no\sone\sis|let\syourself\sin|"
        r"unsupervised|answering\smachine|voicemail|recorded\s(?:message|announcement)|leaves?\sa\smessage",
    ),
    "at once or later": (
        r"inline|in\sthe\s(?:same\s)?request|synchronous\w*|right\saway|immediately|at\sonce|"
        r"on\sthe\sspot|real[- ]time|instantly|straight\saway",
        r"in\sthe\sbackground|queued?|asynchronous\w*|later\son|overnight|next\smorning|"
        r"nightly|in\sbatches|deferred|the\snext\sday",
    ),
    "before or afterwards": (
        r"in\sadvance|up\s?front|beforehand|prepaid|pre-?paid|before\s(?:they|we|you|it|the)",
        r"afterwards|in\sarrears|on\sdelivery|after\s(?:they|we|you|it|the)|post-?paid|"
        r"on\sreceipt",
    ),
    "first or last": (
        r"(?:the\s)?first\s(?:one\s)?(?:wins|arriv\w+|counts|stays)|arriv\w+\sfirst|earliest|"
        r"came\s(?:in\s)?first|oldest",
        r"(?:the\s)?last\s(?:one\s)?(?:wins|arriv\w+|counts|stays)|arriv\w+\slast|latest|"
        r"came\s(?:in\s)?last|newest|most\srecent",
    ),
    "on paper or digital": (
        r"on\spaper|printed?|print-?outs?|by\spost|handwritten|paper\s(?:form|copy|file|list)|"
        r"in\sink|in\san\senvelope|envelopes",
        r"digital\w*|electronic\w*|paperless|as\sa\spdf|in\sthe\sapp|online|portal|"
        r"by\se-?mail|tablet",
    ),
    "in person or remote": (
        r"in\sperson|face\sto\sface|on\ssite|on-?site|in\sthe\soffice|on\sthe\spremises",
        r"remote\w*|from\shome|video|by\sphone|over\sthe\sphone|online|virtual\w*|call\sin",
    ),
    "alone or with others": (
        r"alone|by\s(?:himself|herself|themselves|yourself)|single-?handed\w*|on\s(?:his|her|their)"
        r"\sown|nobody\selse|one\sperson",
        r"two\speople|four\seyes|in\spairs|together\swith|second\s(?:person|pair|signature|"
        r"approval)|never\salone|accompanied",
    ),
    "everyone or a few": (
        r"every(?:one|body)?|all\s(?:members|staff|of)|complete|whole|the\sentire|each|"
        r"full\s(?:board|jury|team|committee)",
        r"only\s(?:the|a|some|two|three|four)|just\s(?:the|a|two|three|four)|nobody\sbut|"
        r"members\sonly|signed-?in|a\s(?:few|handful|small)\b|some\sof",
    ),
    "by phone or in writing": (
        r"(?:by|over\sthe|the|a|duty)\s(?:tele)?phone|phones?\s(?:the|them|us|you|people|patients|customers)|"
        r"callers?|calls?\s(?:us|them|the)|rings?|hotline|voicemail",
        r"portal|web\sform|online|in\swriting|by\se-?mail|written\s(?:form|request)|by\sletter|"
        r"ticket|in\sthe\sapp",
    ),
    "own or shared": (
        r"(?:their|his|her|its)\sown\s\w+|individual\w*|personal|dedicated|one\seach",
        r"shares?|shared|in\scommon|joint\w*|pooled|one\s\w+\s(?:per\steam|for\sall)",
    ),
    "on the server or the client": (
        r"on\sthe\sserver|server[- ]side|(?:in|by)\sthe\sback-?end",
        r"browsers?|client[- ]side|on\sthe\s(?:client|device|phone)|front-?end",
    ),
    DAY_PARTS: (
        r"in\sthe\smornings?|(?:at|before|with|after)\sbreakfast|each\smorning|every\smorning",
        r"in\sthe\sevenings?|at\sbedtime|at\snight|(?:at|before|with|after)\s(?:supper|dinner)|"
        r"(?:each|every)\s(?:evening|night)",
    ),
    "encrypted or in the clear": (
        r"encrypt\w*|ciphertext",
        r"plain-?text|unencrypted|clear-?text|in\sthe\sclear|in\splain\stext",
    ),
    "with or without animal food": (
        r"vegan|plant[- ]based|vegetarian|meat-?free|meatless",
        r"meat|beef|pork|chicken|steak|ham|bacon|sausages?|salmon|tuna|fish|seafood|shrimps?|"
        r"lamb|turkey|eggs?|cheese",
    ),
    "sent to them or bought by them": (
        r"(?:ships?|sends?|provides?|supplies|hands?\sout|issues?|delivers?)\s(?:\w+\s){0,3}"
        r"(?:every|each|all|new|the)|is\sprovided|are\sprovided|company-?owned",
        r"(?:buy|buys|bring|brings|pick|picks)\s(?:and\s\w+\s)?(?:their|your|his|her)\sown|"
        r"byod|at\s(?:their|your)\sown|out\sof\s(?:their|your)\sown\spocket",
    ),
}
_COMPILED: Final = {
    name: tuple(re.compile(rf"\b(?:{side})\b", re.IGNORECASE) for side in sides)
    for name, sides in _FAMILIES.items()
}


_NARROW: Final = frozenset({"formal or familiar", "real or made up", "with or without animal food"})


_PIECE: Final = re.compile(r"[^.;,:!?]+")
_DENIES: Final = re.compile(r"\b(?:not|no|never|nothing|none|nobody|neither|nor|cannot)\b", re.I)


def _affirmed(text: str) -> str:
    """Return a text without the pieces that deny something."""
    return ", ".join(piece for piece in _PIECE.findall(text) if not _DENIES.search(piece))


def is_narrow(family: str) -> bool:
    """Whether the family itself says what two texts are about, so that little else must agree."""
    return family in _NARROW


def is_of_family(text: str, family: str) -> bool:
    """Whether any words of a text take a side in a family."""
    return any(pattern.search(text) for pattern in _COMPILED[family])


@lru_cache(maxsize=32768)
def sides(text: str) -> frozenset[tuple[str, int]]:
    """Return (family, side) where a text takes one side of a family alone."""
    found = set()
    for name, evidence in _evidence(text):
        taken = [side for side, words in enumerate(evidence) if words]
        if len(taken) == 1:
            found.add((name, taken[0]))
    return frozenset(found)


@lru_cache(maxsize=32768)
def _evidence(text: str) -> tuple[tuple[str, tuple[frozenset[str], frozenset[str]]], ...]:
    """Return for each family what of a text speaks for either side, if anything does."""
    found = []
    for name, patterns in _COMPILED.items():
        yes, no = (_matches(pattern, text) for pattern in patterns)
        if yes and no:  # one of them may be what is denied
            plain = _affirmed(text)
            yes, no = (_matches(pattern, plain) for pattern in patterns)
        if yes or no:
            found.append((name, (yes, no)))
    return tuple(found)


def _matches(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    return frozenset(stem(match[0].lower()) for match in pattern.finditer(text))


def excluding_ways(a: str, b: str) -> str:
    """Return the family in which two texts take opposite sides, "" when there is none.

    What both say is their matter and speaks for neither side.
    """
    theirs = dict(_evidence(b))
    for name, (yes_a, no_a) in _evidence(a):
        if name in theirs:
            yes_b, no_b = theirs[name]
            both = (yes_a & yes_b) | (no_a & no_b)
            left = (bool(yes_a - both), bool(no_a - both))
            right = (bool(yes_b - both), bool(no_b - both))
            if left != right and sorted(left) == sorted(right) == [False, True]:
                return name
    return ""
