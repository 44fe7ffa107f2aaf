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
        r"keeps?|kept|retain\w*|stays?|stored|remains?|survives?|archived?|preserved?|goes\s+back|"
        r"brings?\s+(?:\w+\s+){0,3}back|brought\s+back|restor\w+|recover\w*",
        r"wip(?:e|es|ed)|delet\w+|purg\w+|shred\w*|binned|discard\w*|thrown?|remov\w+|left\s+out|"
        r"leave\s+out|empt(?:y|ies|ied)|nothing\s+is\s+kept|cleared|destroyed|dropped|incinerated|"
        r"for\s+good|no\s+way\s+back|irrevers\w+|final",
    ),
    "refused or accepted": (
        r"reject\w*|refus\w+|den(?:y|ied|ies)|forbid\w*|forbidden|banned|prohibited|turned\s+away|"
        r"sent\s+(?:back|home)|not\s+(?:permitted|allowed|accepted)|(?:do|does)\s+not\s+(?:take|accept)|"
        r"no\s+\w+\s+(?:is|are)\s+(?:served|allowed|accepted)|off\s+limits|must\s+not|may\s+not|"
        r"nobody\s+may|keep\s+(?:\w+\s+){1,6}away\s+from|not\s+tolerate",
        r"accept\w*|allow\w*|permit(?:s|ted)?|welcome|"
        r"are\s+fine|is\s+fine|approve[sd]|let\s+in|serves?|pours?|may\s+(?:come|eat|use|bring|enter|stay|"
        r"take|go|play|have)|can\s+(?:come|bring|enter|stay)|is\s+okay|feel\s+free|can\s+be\s+(?:left|used|brought|taken|parked|entered)",
    ),
    "automatic or by hand": (
        r"automatic\w*|on\s+(?:its|their)\s+own|itself|unattended|by\s+themselves|scheduler|cron|"
        r"without\s+anyone",
        r"by\s+hand|manual\w*|operator|press(?:es)?|button|on\s+request|only\s+when|restart|"
        r"somebody\s+has\s+to|someone\s+has\s+to|typed?\s+in",
    ),
    "fixed or edited": (
        r"never\s+(?:altered|changed|edited|touched|modified|corrected)|immutable|append.only|"
        r"read.only|cannot\s+be\s+(?:changed|edited|altered)|frozen",
        r"edits?|edited|overwrit\w+|in\s+place|alters?|rewrites?|corrects?|adjusts?",
    ),
    "once or repeatedly": (
        r"a\s+single\s+time|exactly\s+once|only\s+once|one\s+time\s+only|never\s+twice",
        r"more\s+than\s+once|repeated\w*|several\s+times|many\s+times|at\s+least\s+once|twice",
    ),
    "free or paid": (
        r"free\s+of\s+charge|no\s+charge|nobody\s+(?:is\s+charged|pays)|on\s+the\s+house|for\s+free|"
        r"nothing\s+is\s+charged|at\s+no\s+cost|we\s+pay|covered|(?:is|are)\s+included|"
        r"included\s+in\s+the\s+price|complimentary",
        r"charged|charges|(?<!no\s)costs?|fees?|billed|"
        r"(?:customers?|guests?|tenants?|patients?|they|you|parents|every(?:one|body)|members|visitors|"
        r"participants|attendees)\s+pays?|not\s+(?:covered|included)|"
        r"does\s+not\s+(?:cover|reach|include)|at\s+(?:their|his|her|your)\s+own\s+expense",
    ),
    "needed or optional": (
        r"must|required|mandatory|obligatory|needs?\s+(?:a|an|the)|always|compulsory|"
        r"accompanied\s+by",
        r"optional|may\s+skip|not\s+(?:needed|required|necessary)|without\s+(?:a|an|any)|no\s+need|"
        r"voluntary|up\s+to\s+(?:you|them)",
    ),
    "formal or familiar": (
        r"formal(?:ly)?|(?-i:Sie)|surnames?|last\s+names?|politely|(?-i:vous|usted)",
        r"informal\w*|familiar|(?-i:du|tu)|first\s+names?|first-name|casual\w*",
    ),
    "real or made up": (
        r"(?:production|live|real|prod|customer|actual)\s+(?:dump|data|copy|records?)|"
        r"(?:dump|copy|snapshot|clone)\s+of\s+(?:the\s+)?(?:production|prod|live)|anonymi[sz]ed|"
        r"real\s+(?:people|customers?|users?|patients?)",
        r"synthetic|generated|invented|fake\w*|made[- ]up|dummy|fictitious|"
        r"(?:nothing|none|no\s+one|nobody)\s+(?:\w+\s+){0,3}(?:from\s+)?real",
    ),
    "refundable or not": (
        r"refunded|refundable|money\s+back|paid\s+back|reimbursed|returned\s+to",
        r"not\s+refund\w+|non-?refundable|no\s+refunds?|forfeit\w*|not\s+(?:returned|paid\s+back)|"
        r"kept\s+in\s+any\s+case",
    ),
    "used or never used": (
        r"(?:is|are)\s+used|drawn\s+from|taken\s+from|trained\s+on|learns?\s+from|fed\s+with",
        r"never\s+(?:used|touched|fed|taken|enter|train)\w*|not\s+used|kept\s+out\s+of|excluded?",
    ),
    "cold or warm": (
        r"fridge|freezer|frozen|chilled|chiller|refrigerat\w+|on\s+ice|dry\s+ice|cold\s+room|"
        r"minus\s+\w+",
        r"room\s+temperature|ambient|warm|heated|oven|unrefrigerated|on\s+the\s+(?:bench|shelf)",
    ),
    "staffed or alone": (
        r"is\s+staffed|at\s+the\s+desk|somebody\s+is\s+there|round\s+the\s+clock|"
        r"someone\s+is\s+there|in\s+attendance|supervised",
        r"(?:no|without)\s+staff|unstaffed|unmanned|self-?service|nobody\s+is|no\s+one\s+is|let\s+yourself\s+in|"
        r"unsupervised|answering\s+machine|voicemail|recorded\s+(?:message|announcement)|leaves?\s+a\s+message",
    ),
    "at once or later": (
        r"inline|in\s+the\s+(?:same\s+)?request|synchronous\w*|right\s+away|immediately|at\s+once|"
        r"on\s+the\s+spot|real[- ]time|instantly|straight\s+away",
        r"in\s+the\s+background|queued?|asynchronous\w*|later\s+on|overnight|next\s+morning|"
        r"nightly|in\s+batches|deferred|the\s+next\s+day",
    ),
    "before or afterwards": (
        r"in\s+advance|up\s*front|beforehand|prepaid|pre-?paid|before\s+(?:they|we|you|it|the)",
        r"afterwards|in\s+arrears|on\s+delivery|after\s+(?:they|we|you|it|the)|post-?paid|"
        r"on\s+receipt",
    ),
    "first or last": (
        r"(?:the\s+)?first\s+(?:one\s+)?(?:wins|arriv\w+|counts|stays)|arriv\w+\s+first|earliest|"
        r"came\s+(?:in\s+)?first|oldest",
        r"(?:the\s+)?last\s+(?:one\s+)?(?:wins|arriv\w+|counts|stays)|arriv\w+\s+last|latest|"
        r"came\s+(?:in\s+)?last|newest|most\s+recent",
    ),
    "on paper or digital": (
        r"on\s+paper|printed?|print-?outs?|by\s+post|handwritten|paper\s+(?:form|copy|file|list)|"
        r"in\s+ink|in\s+an\s+envelope|envelopes",
        r"digital\w*|electronic\w*|paperless|as\s+a\s+pdf|in\s+the\s+app|online|portal|"
        r"by\s+e-?mail|tablet",
    ),
    "in person or remote": (
        r"in\s+person|face\s+to\s+face|on\s+site|on-?site|in\s+the\s+office|on\s+the\s+premises",
        r"remote\w*|from\s+home|video|by\s+phone|over\s+the\s+phone|online|virtual\w*|call\s+in",
    ),
    "alone or with others": (
        r"alone|by\s+(?:himself|herself|themselves|yourself)|single-?handed\w*|on\s+(?:his|her|their)"
        r"\s+own|nobody\s+else|one\s+person",
        r"two\s+people|four\s+eyes|in\s+pairs|together\s+with|second\s+(?:person|pair|signature|"
        r"approval)|never\s+alone|accompanied",
    ),
    "everyone or a few": (
        r"every(?:one|body)?|all\s+(?:members|staff|of)|complete|whole|the\s+entire|each|"
        r"full\s+(?:board|jury|team|committee)",
        r"only\s+(?:the|a|some|two|three|four)|just\s+(?:the|a|two|three|four)|nobody\s+but|"
        r"members\s+only|signed-?in|a\s+(?:few|handful|small)\b|some\s+of",
    ),
    "by phone or in writing": (
        r"(?:by|over\s+the|the|a|duty)\s+(?:tele)?phone|phones?\s+(?:the|them|us|you|people|patients|customers)|"
        r"callers?|calls?\s+(?:us|them|the)|rings?|hotline|voicemail",
        r"portal|web\s+form|online|in\s+writing|by\s+e-?mail|written\s+(?:form|request)|by\s+letter|"
        r"ticket|in\s+the\s+app",
    ),
    "own or shared": (
        r"(?:their|his|her|its)\s+own\s+\w+|individual\w*|personal|dedicated|one\s+each",
        r"shares?|shared|in\s+common|joint\w*|pooled|one\s+\w+\s+(?:per\s+team|for\s+all)",
    ),
    "on the server or the client": (
        r"on\s+the\s+server|server[- ]side|(?:in|by)\s+the\s+back-?end",
        r"browsers?|client[- ]side|on\s+the\s+(?:client|device|phone)|front-?end",
    ),
    DAY_PARTS: (
        r"in\s+the\s+mornings?|(?:at|before|with|after)\s+breakfast|each\s+morning|every\s+morning",
        r"in\s+the\s+evenings?|at\s+bedtime|at\s+night|(?:at|before|with|after)\s+(?:supper|dinner)|"
        r"(?:each|every)\s+(?:evening|night)",
    ),
    "encrypted or in the clear": (
        r"encrypt\w*|ciphertext",
        r"plain-?text|unencrypted|clear-?text|in\s+the\s+clear|in\s+plain\s+text",
    ),
    "with or without animal food": (
        r"vegan|plant[- ]based|vegetarian|meat-?free|meatless",
        r"meat|beef|pork|chicken|steak|ham|bacon|sausages?|salmon|tuna|fish|seafood|shrimps?|"
        r"lamb|turkey|eggs?|cheese",
    ),
    "sent to them or bought by them": (
        r"(?:ships?|sends?|provides?|supplies|hands?\s+out|issues?|delivers?)\s+(?:\w+\s+){0,3}"
        r"(?:every|each|all|new|the)|is\s+provided|are\s+provided|company-?owned",
        r"(?:buy|buys|bring|brings|pick|picks)\s+(?:and\s+\w+\s+)?(?:their|your|his|her)\s+own|"
        r"byod|at\s+(?:their|your)\s+own|out\s+of\s+(?:their|your)\s+own\s+pocket",
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
