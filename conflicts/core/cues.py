"""Words that tell how a memory stands in time: changes, returns, ends, settlements, doubts.

General English vocabulary, kept in one place. A cue never decides alone: the rules ask what the
cue is about.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from typing import Final


class Cue(Enum):
    """What a sentence does to the state of the world."""

    SWITCH = "switch"  # announces a new value
    ADJUST = "adjust"  # sets a value or makes a choice; may leave an older one
    RETURN = "return"  # says openly that the old value is back
    AGAIN = "again"  # may say so: "once more", "again"
    END = "end"  # something ceases to exist or to serve
    SUCCESSOR = "successor"  # names what takes the place of something
    SETTLE = "settle"  # corrects, decides, retires earlier notes
    TEMPORARY = "temporary"  # bounded in time
    UNREAL = "unreal"  # question, proposal, test, quotation, exercise
    PAST = "past"  # speaks about former times
    EVENT = "event"  # reports a single happening, no lasting state
    PROGRESS = "progress"  # a step of something under way


_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_DATE = rf"(?:{_WEEKDAY}|\d{{1,2}}\.?\s+{_MONTH}|{_MONTH}\s+\d{{1,2}}|\d{{4}}-\d{{2}}|{_MONTH})"
_SOON = (
    r"(?:today|tomorrow|tonight|now(?:\s+on)?|(?:here|then)\s+on|this|(?:the\s+)?(?:next|first))"
)

_PATTERNS: Final[dict[Cue, str]] = {
    Cue.SWITCH: rf"""
        moved\b(?!\s+(?:house|on)\b) | moves?\s+(?:to|from|over)\b | migrat(?:ed|ion|es)
        | switch(?:ed|es|ing)?\b | replac(?:ed|es|ement) | swapped | flipped | upgraded
        | downgraded | converted | relocated | repointed | reassigned | transferred
        | renamed | changed\s+(?:[\w\s'-]{{1,60}}\s)?(?:from|to)\b | cut[- ]?over\b
        | (?:took|taken|takes)\s+over | hand(?:ed|s)?\s+over\b(?!\s+(?:against|the\s+key))
        | dropped\s+(?:the|our|its|all)\b | turned\s+(?:on|off)
        | (?<!\bis\s)(?<!\bare\s)(?:enabled|disabled)\b
        | onboarded\s+to | taken\s+out\s+of | took\s+[\w\s]{{1,60}}?\soff | instead\s+of
        | in\s+favou?r\s+of | no\s+longer | any\s*(?:more|longer)\b
        | from\s+(?:{_SOON}|{_DATE}(?!\s+(?:to|until|till)\b))
        | since\s+(?:{_DATE}|the\s+(?:new|switch|move|last)) | as\s+of | new\s+rule
        | (?:starting|beginning|effective)\s+(?:in\s+|on\s+|from\s+|with\s+)?(?:{_DATE}|{_SOON})
        | stopped\s+\w+ing\b
        | (?:live|lives|stored|kept|runs?|uses?|is|are)\s+now\b(?!\s+\w+ing\b)
        | now\s+(?:live|in|on|use|run|go|\w+s)\b | since\s+[A-Z]\w+\s+\w+ed\b
        | (?:has|have|got)\s+been\s+(?:moved|replaced|changed)
        | (?:new|now)\s+(?:supplier|vendor|provider|owner)
        | (?:went|goes|go|gone)\s+(?:from|over\s+to)\b | ported\s+to | rewr(?:ote|itten)\b
        | standardi[sz]ed\s+on | redirected | rerouted | ditched | phased\s+out | swapping\b
        | succeed(?:s|ed)\b | hand(?:ing)?\s+off | handed\s+off
        | (?:has|have|is|are|was|were|been)\s+(?:stopped|dropped)\b | now(?=\s*[.;!]|\s*$)
    """,
    Cue.ADJUST: r"""
        dropped\b(?=\s+(?:the|our|its|all|to)\b) | raised?\b | lowered\b
        | (?:increased|reduced)\s+(?:\w+\s+){0,4}?(?:to|from|by)\b | bumped | extended\s+to
        | introduced | shipped\b | (?:we|has|have|was|were|been|team|board)\s+adopted
        | adopted\s+(?:by|as)\b | bec[ao]mes?\s+the\b | scaled\s+(?:up|down|to) | effective
        | \bput\s+\w+\s+on\b
        | decided\s+to\s+(?:use|move|switch|go|drop|stop|replace|adopt|retire|run|keep|take)\b
        | consolidated | rolled\s+out | opted\s+for | settled\s+on
        | (?<!\bare\s)(?<!\bis\s)(?:chose|picked)\b | appointed | brought\s+forward | delayed\s+to
        | doubled | halved | tripled | tightened | trimmed | restricted\s+to | cut\s+(?:from|to)\b
        | set\s+to\b | abandoned | gave\s+up | pushed\s+(?:back\s+)?to | slipped\s+to | postponed
        | rescheduled | shifted | passe[sd]\s+to | went\s+live | inherit(?:s|ed)\b | changed\b
        | changes\s+(?:from|to)\b | \bby\s+now\b
    """,
    Cue.RETURN: r"""
        \b(?:is|are|was|were)\s+back\b | ^back\s+(?:to|on|at|in|with|again)\b
        | (?:is|are|was|were|went|goes?|gone|moved|switched|came|put|turned|changed|rolled|brought
            |set|flipped|pulled|now|fell|got|taken|took|sent|handed|gave|given|shifted|swapped|we)
            \s+(?:\w+\s+){0,4}back\s+(?:to|on|at|in|with|again|from|for)\b
        | revert(?:ed|s|ing)?\b | roll(?:ed|ing)?[- ]?back | restor(?:ed|es)\b | resum(?:ed|es)\b
        | reinstat | re-?enabled | re-?activated | return(?:ed|s|ing)\s+to\b | brought\s+back
        | undone\b | undid\b | after\s+all\b | as\s+(?:originally|before)
        | original\s+(?:date|plan|value|setting) | came\s+back
        | (?:moved|put|switched|turned|went|pulled)\s+(?:\w+\s+){0,3}back\b | revived
        | reintroduced | re-?adopted | we(?:'re|\s+are)\s+back | return\s+to\b
    """,
    Cue.AGAIN: r"""
        \bonce\s+more\b | \bagain\b
    """,
    Cue.END: r"""
        (?<!\bis\s)(?<!\bare\s)(?:deleted|wiped|erased|cancell?ed|destroyed)\b | dismantled
        | demolished | decommissioned | scrapped | \bscrap\b | shut\s+(?:down|off)
        | shut\s+for\s+good | turned\s+(?:[\w\s'-]{1,60}\s)?off\b | switched\s+off | torn?\s+down
        | tore\s+(?:\w+\s+)?down | terminated | \bended\b | expired | lapsed | ran\s+out
        | run\s+out | discontinued | retired | (?:was|is|been|being)\s+sunset\b | dissolved
        | bankrupt | insolvent | (?:was|were|been|got)\s+sold | sold\s+(?:to|off)
        | (?:handed|given|gave|sent|went)\s+back\s+to | handed\s+back
        | (?:took|taken)\s+(?:[\w\s'-]{1,60}\s)?(?:off\s+the|down|offline)
        | sealed\s+off | burned\s+down
        | (?<!then\s)(?<!then\sit\s)(?<!then\sthey\s)(?:is|are|was|were)\s+gone\b
        | no\s+longer\s+exists? | (?:does|do)\s+not\s+exist | last\s+day | left\s+(?:the|us|for)\b
        | moved\s+(?:away|out)\b | \bis\s+over\b | \bdied\b | stopped\s+all | wound\s+up
        | powered\s+down | revoked | withdrawn | no\s+\w+\s+left\b
        | there\s+is\s+no\b(?!\s+(?:other|need|way|reason|\w+\s+(?:in\s+between|behind)))
        | closed\s+(?:down|since|for\s+good) | (?:is|are|was|were)\s+closed\b
        | (?:ceased|closing\s+down) | evicted | removed\s+for\s+good
        | \bformer\b | moved\s+to\s+(?=(?-i:[A-Z][a-z])) | unplugged | dropped\s+support
        | taken\s+away | (?:gave|given|giving)\s+up\s+(?:the|its|their|our)\b
        | (?:is|are|was|were)\s+off\s+the\s+(?:\w+\s+)?(?:timetable|menu|market|list|schedule
            |programme|program|shelves)\b
        | pulled\s+the\s+plug | went\s+(?:bust|under|dark|out\s+of\s+business)
        | folded\b | defunct | disbanded | axed\b | phased\s+out | end[- ]of[- ]life | \beol\b
        | resigned | \bquit\b | retires?\b | passed\s+away | laid\s+off | let\s+go\b
        | stepped\s+down | departed | vacated | evacuated | condemned | pulled\s+down
        | knocked\s+down | burn(?:ed|t)\s+(?:out|to) | stolen | given\s+away
        | (?:was|were|been|is|are)\s+donated | uninstalled | purged | out\s+of\s+service
        | closed\s+its\s+doors | shuttered | not\s+(?:been\s+)?renewed | delisted | written\s+off
        | thrown\s+(?:out|away) | unpublished
        | (?:took|taken|pulled)\s+(?:[\w\s'-]{1,60}\s)?out\s+of\s+(?:service|use|production)
        | ceased\b | torn\s+out
        | (?:ripped|torn|tore|pulled|stripped|cut)\s+(?:[\w\s'-]{1,60}\s)?out\b
        | offboarded | vanished
        | lost\s+(?:its|their|the)\s+(?:licen[cs]e|lease|permit)
        | (?<!\bis\s)(?<!\bare\s)removed\b | (?:is|are)\s+out\b(?=\s*(?:$|[.,;:]|and\b))
        | (?:its|their|his|her)\s+last\s+(?:days?|weeks?|months?|shifts?|working|season)\b
        | nothing\s+to\s+do\s+with | beyond\s+repair
    """,
    Cue.SUCCESSOR: r"""
        \bin\s+(?:his|her|its|their)\s+(?:place|stead) | \btakes?\s+over\b | \btook\s+over\b
        | \b(?:takes?|has|covers?|does)\s+[\w\s]{1,30}\s+from\s+(?=[A-Z]|next|then|now)
        | \b(?:covers?|replaces?|does)\s+(?:it|them|this|that)\b | \bstand(?:s|ing)?\s+in\b
        | \binstead\b | \bsucceed(?:s|ed)\b
    """,
    Cue.SETTLE: r"""
        correction(?=\s*[:,.;-]) | correct(?:ed)?\s+(?:number|figure|value|date|is)\b
        | had\s+(?:that|it)\s+wrong | misread | sorry | typo\b | (?:is|was|were|are)\s+wrong\b
        | mistake | disregard | ignore\s+(?:the|earlier|what) | forget\s+(?:the|about)
        | decided\s+in | decision\s*: | decided\s*: | final\s+decision | settled\b | agreed\s+on
        | confirmed\b | checked\s+the | looked\s+it\s+up | verified
        | (?:was|were|been)\s+executed\b | clarif | in\s+fact\b | earlier\s+notes?
        | (?:is|are)\s+history\b | obsolete
        | superseded | withdrawn | no\s+longer\s+valid | rejected\b(?=.{0,200}(?:proposal|idea))
        | (?:proposal|idea)\b.{0,200}(?:rejected|declined|dropped) | not\s+used\s+any\s*more
        | was\s+only\s+(?:in|for) | struck\b | not\s+\d[\w.]*\s*[.,;]
        | changed\s+our\s+minds? | turns\s+out | for\s+the\s+record | the\s+actual\b
        | double-?checked | cleared\s+up | ruled\s+that | outdated | no\s+longer\s+appl
        | can\s+be\s+ignored | replaces\s+the\s+(?:earlier|old|previous) | overrides
        | it\s+was\s+established | do\s+not\s+rely\s+on
    """,
    Cue.TEMPORARY: rf"""
        temporar | \binterim\b | meanwhile | for\s+now\b | for\s+the\s+time\s+being
        | while\s+\w+\b(?=[^.;,]{0,60}\b(?:away|leave|holiday|off|out|ill
            |sick|closed|down|repair\w*|renovat\w*|rebuil\w*|built|construction|migrat\w*|abroad
            |travel\w*|lasts?|being)\b) | \bpaused\b | stand(?:s|ing)?[- ]in
        | (?:until|till)\s+(?:{_DATE}|he|she|they|it|we|then)\b
        | until\s+[\w\s]{{1,60}}\s(?:is|are)\s+(?:back|done|fixed|ready) | \bonly,?\s+from\b
        | \b(?:holiday|sick)\s+cover\b | \bfreeze\b | sabbatical | parental\s+leave | short-?term
        | stop-?gap | one-?off | on\s+(?:holiday|leave|vacation|trial)\b | \bmaternity
        | this\s+week\s+only | as\s+an\s+exception | for\s+the\s+duration | provisional
        | until\s+[\w\s]{{1,60}}\s(?:ends?|expires?|closes?)\b
        | for\s+the\s+(?:season|summer|winter|event)\b
    """,
    Cue.UNREAL: r"""
        ^idea\b | \bidea\s*: | \bproposal\b | propos(?:ed|es|ing)\b
        | could\s+(?:use|try|move|switch|go|also|consider|do|become|run|replace)\b
        | could\s+be\s+(?:an?|used|moved|replaced)\b | \bmight\b | \bmaybe\b | \bperhaps\b
        | option(?:s)?\s+(?:for|are|is)\b | leaning\s+towards | considering | evaluating
        | would\s+be\b | should\s+we\b | do\s+we\b
        | \bif\s+we\s+(?:were|did|had|could|would|\w+ed)\b | \bto\s+try\b | trial\s+run
        | what\s+if | \bspike\b | tried\s+(?:a|an|out)\b | not\s+shipped | experiment\b
        | \bdraft\b | quoted\b | game\s*day | tabletop | exercise\b | simulat | hypothetical
        | scenario | \bplan(?:s|ned)?\s+to\b | \bwants?\s+to\b | compared\b | \basked\s+whether
        | suggest(?:s|ed|ion)\b | recommend(?:s|ed|ation)?\b | thinking\s+(?:about|of)
        | brainstorm | \brfc\b | prototype | \bpoc\b | proof\s+of\s+concept | \bmock\b | \bjoke\b
        | rumou?r | hearsay | imagine\b | shortlist(?:ed)?\s+(?:are|is)\b | was\s+asked\s+about
        | wishes?\b | (?:thanks|thank\s+you|wow|hey|congrats|haha|lol|btw|gonna|yeah|yep|woah)\b
    """,
    Cue.PROGRESS: r"""
        \bstage\s+(?:one|two|three|four|five|\d+)\b | \bphase\s+(?:one|two|three|\d+)\b
        | \b(?:is|are|all)\s+done\b(?!\s+by) | \bdone\s*:
        | (?<!\ba\s)(?<!\ban\s)(?<!\bthe\s)\bfinished\b
        | \bcompleted?\b(?!\s+\w+s?\b) | \bin\s+(?:review|progress)\b | \bunblocked\b
        | \breopened\b | \bso\s+far\b | \bhalf\s+(?:of\s+)?the\b
    """,
    Cue.PAST: r"""
        (?<!\bis\s)(?<!\bare\s)(?<!\bbe\s)(?<!\bbeen\s)(?<!\bnever\s)(?<!\bonly\s)used\s+to\b
        | formerly | previously | in\s+the\s+past | back\s+then
        | (?:old|former)\s+(?:wiki|docs?|page|setup|runbook) | \bhad\s+been\b
        | until\s+(?:last|then|recently)\b | \blegacy\s+notes?\b
        | \bwhat\s+\w+\s+(?:had|was|were)\b
    """,
}  # fmt: skip

_COMPILED: Final = {
    cue: re.compile(
        # "releases are cut from main" is a habit, "releases were cut from main" a change.
        (r"(?<!\bis\s)(?<!\bare\s)" if cue is Cue.ADJUST else "") + rf"(?<!\w)(?:{pattern})",
        re.IGNORECASE | re.VERBOSE,
    )
    for cue, pattern in _PATTERNS.items()
}


# "once probation has ended", "when the lease expires": a condition, nothing that has happened.
_CONDITION: Final = re.compile(
    r"\b(?:once|when|whenever|if|unless|as\s+soon\s+as|by\s+the\s+time|until|till)\b"
    r".*?(?:[,:;.?!]|$)",
    re.IGNORECASE,
)
# "Switched off at the end of next year", "will be retired": nothing is gone yet.
_AHEAD: Final = re.compile(
    r"\b(?:(?:will|shall|to)\s+be|(?:is|are)\s+(?:going|about|due|scheduled)\s+to|"
    r"(?:by|at|until)\s+the\s+(?:end|start|beginning)\s+of\s+(?:next|this|the)\s+\w+|"
    r"next\s+(?:week|month|quarter|year|spring|summer|autumn|winter))\b",
    re.IGNORECASE,
)
_PIECE: Final = re.compile(r"[^.;!?]+[.;!?]*")
_IRREGULAR: Final = (
    "went|got|took|left|came|began|sent|bought|sold|made|met|told|brought|paid|won|lost|ran|gave|split|"
    "started|peaked|reported|said|asked|had"
)
_EVENT: Final = re.compile(
    rf"^(?:[\w'&()/.-]+\s+){{0,5}}?(?:(?:{_IRREGULAR})\b|\w{{3,}}ed(?=[,.;]|$|\s+(?:to|from|with|by|in|into|on|off|"
    r"at|for|as|and|up|down|out|over|via|through|the|a|an|our|its|his|her|their|all|\d\S*|[A-Z]\S*)\b))"
)
_STATE_VERB: Final = re.compile(
    r"\b(?:is|are|has|have|must|may|can|should|shall|will|need|needs|do|does|be|gets?|lives?|runs?|"
    r"uses?|keeps?|goes|go|stays?|comes?)\b",
    re.IGNORECASE,
)


# "Once issued, …", "watches that took in water are …", "the supported version is 14".
_BEFORE_PARTICIPLE: Final = re.compile(
    r"^(?:once|when|if|where|unless|as|after)\b|\b(?:that|which|who)\s+\S+$", re.IGNORECASE
)
_MAIN_VERB_AFTER: Final = re.compile(
    r"(?:\s+(?!that\b|which\b|who\b|because\b|where\b|so\b|it\b|this\b|there\b|and\b|the\b)[\w'-]+){0,5}?"
    r"\s+(?:is|are|must|may)\s",
    re.IGNORECASE,
)


def _is_event(text: str) -> bool:
    """Whether a sentence reports a happening: a past verb before any verb of state."""
    head = re.split(r"(?<=[.,;:!?])\s", text, maxsplit=1)[0]
    match = _EVENT.match(head)
    if match is None or _STATE_VERB.search(head[: match.end()]) or head.endswith("?"):
        return False
    if _BEFORE_PARTICIPLE.search(match[0]) or _MAIN_VERB_AFTER.match(head[match.end() :]):
        return False
    return not head.endswith(":") or " " not in match[0]


# "closed for two weeks" ends by itself, "kept for two weeks" is a standing rule.
_SPAN: Final = re.compile(
    r"\b(?:for|next)\s+(?:an?|one|two|three|four|five|six|\d+)\s+(?:days?|weeks?)\b", re.IGNORECASE
)
_KEEPING: Final = re.compile(
    r"\b(?:keep|keeps|kept|retain\w*|retention|hold|holds|held|stor(?:e|es|ed)|valid|cached?|lasts?|"
    r"stays?|remain\w*|works?|available|readable|playable|on\s+disk)\b",
    re.IGNORECASE,
)


def _happened(text: str) -> str:
    """Return a text without conditions and without what is only to come."""
    pieces = _PIECE.findall(_CONDITION.sub(" ", text))
    return " ".join(piece for piece in pieces if not _AHEAD.search(piece))


# To send again or never to look again brings nothing back.
_NO_RETURN: Final = re.compile(
    r"\b(?:never|not|nobody|no\s+one)\b[^.;,]{0,60}\bagain\b|"
    r"\b(?:sen[dt]s?|try|tries|retry|rerun|asks?|restarts?|calls?|rings?|logs?\s+in|opens?)"
    r"\s+(?:\w+\s+){0,2}again\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=65536)
def cues(text: str) -> frozenset[Cue]:
    """All cues of ``text``, one sentence or several."""
    unconditional = _happened(text)
    found = {
        cue
        for cue, pattern in _COMPILED.items()
        if pattern.search(unconditional if cue is Cue.END else text)
    }
    if _SPAN.search(text) and not _KEEPING.search(text):
        found.add(Cue.TEMPORARY)
    if _is_event(text):
        found.add(Cue.EVENT)
    if Cue.AGAIN in found and _NO_RETURN.search(text):
        found.discard(Cue.AGAIN)
    return frozenset(found)


def enclosed_by(cue: Cue, text: str) -> str:
    """Return what the words of a cue enclose: "took the shuttle out of service" the shuttle."""
    return " ".join(match[0] for match in _COMPILED[cue].finditer(_happened(text)))
