"""Cue words for changes, returns, ends, settlements and doubts in a text.

General English vocabulary in one place. A cue never decides alone: the rules check what it refers
to.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from typing import Final

from memories.core.calendar_words import MONTH_PATTERN, WEEKDAY_PATTERN
from memories.core.reading import without_user
from memories.core.slots import slot_of


class Cue(Enum):
    """Kind of a cue: what a sentence says about a change of state."""

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


PASSING: Final = (Cue.TEMPORARY, Cue.EVENT, Cue.PROGRESS)  # nothing lasting
NO_STANDING_CLAIM: Final = (*PASSING, Cue.PAST, Cue.SWITCH, Cue.ADJUST)
GOES_BACK: Final = (Cue.RETURN, Cue.AGAIN, Cue.SETTLE)
SETTLES: Final = (*GOES_BACK, Cue.SWITCH, Cue.ADJUST)
REPLACES: Final = (*GOES_BACK, Cue.SWITCH, Cue.END)


_DATE = (
    rf"(?:{WEEKDAY_PATTERN}|\d{{1,2}}\.?\s{MONTH_PATTERN}|{MONTH_PATTERN}\s\d{{1,2}}|"
    rf"\d{{4}}-\d{{2}}|{MONTH_PATTERN})"
)
_SOON = (
    r"(?:today|tomorrow|tonight|now(?:\son)?|(?:here|then)\son|this|"
    r"(?:the\s)?(?:next|first(?=\sof\b)))"
)

# An amount that became another one: "has grown to 25", "rose by a third", "went up to 9 euros".
_GREW: Final = (
    r"(?:grew|grown|rose|risen|fell|fallen|climbed|shrank|shrunk|sank|sunk|swelled|swollen|dwindled"
    r"|declined|dropped|expanded|jumped|soared|slid|plunged|slipped|increased|decreased|reduced"
    r"|doubled|halved|(?:went|gone|came|come|crept)\s(?:up|down))"
    r"\s(?:\w+\s){0,4}?(?:to|by|from|above|below|past)\b"
    r"|(?:has|have|had)\s(?:\w+\s){0,2}(?:reached|become|merged|\w+ed\s(?:to|into))\b"
    r"|(?<!\bbe\s)(?:reached\s(?:\w+\s){0,2}\d|became\s(?:the|an?|our)\b|(?<=\w\s)merged\b)"
)

# Behind "exercise", "draft" or "replacement" they name a real thing: "the exercise room".
_THINGS: Final = (
    r"(?:rooms?|halls?|labs?|studios?|gyms?|pools?|yards?|areas?|cent(?:re|er)s?|desks?|boards?|books?"
    r"|bikes?|mats?|machines?|equipment|class(?:es)?|workshops?|instructors?|teachers?|beers?|horses?"
    r"|parts?|bulbs?|bus(?:es)?|keys?|cards?|filters?|batter(?:y|ies)|drivers?)"
)

_PATTERNS: Final[dict[Cue, str]] = {
    Cue.SWITCH: rf"""
        moved\b(?!\s(?:house|on)\b) | moves?\s(?:to|from|over)\b | migrat(?:ed|ion|es)
        | switch(?:ed|es|ing)?\b(?!\s(?:on|off)\b) | replaces
        | replacement(?!s?\s{_THINGS}\b) | swapped | flipped
        | (?:(?<!\bis\s)(?<!\bare\s)(?<!\bnever\s)replaced|replaced\s(?:by|with))\b
        | upgraded
        | downgraded | (?<!\bthe\s)converted | relocated | repointed | reassigned | transferred
        | renamed | changed\s(?:[\w\s'-]{{1,60}}\s)?(?:from|to)\b | cut[- ]?over\b
        | (?:took|taken|takes)\sover | hand(?:ed|s)?\sover\b(?!\s(?:against|the\skey))
        | dropped\s(?:the|our|its|all)\b | turned\s(?:on|off)
        | (?<!\bis\s)(?<!\bare\s)(?:enabled|disabled)\b
        | onboarded\sto | taken\sout\sof | took\s[\w\s]{{1,60}}?\soff | instead\sof
        | in\sfavou?r\sof | no\slonger | any\s?(?:more|longer)\b
        | from\s(?:{_SOON}|{_DATE}(?!\s(?:to|until|till)\b))
        | since\s(?:{_DATE}|the\s(?:new|switch|move|last)) | as\sof | new\srule
        | (?:starting|beginning|effective)\s(?:in\s|on\s|from\s|with\s)?(?:{_DATE}|{_SOON})
        | stopped\s\w+ing\b
        | (?:live|lives|stored|kept|runs?|uses?|is|are)\snow\b(?!\s\w+ing\b)
        | now\s(?:live|in|on|use|run|go|\w+s)\b | since\s[A-Z]\w+\s\w+ed\b
        | (?:has|have|got)\sbeen\s(?:moved|replaced|changed)
        | (?:new|now)\s(?:supplier|vendor|provider|owner)
        | (?:went|goes|go|gone)\s(?:from|over\sto)\b | ported\sto | rewr(?:ote|itten)\b
        | standardi[sz]ed\son | redirected | rerouted | ditched | phased\sout | swapping\b
        | succeed(?:s|ed)\b | hand(?:ing)?\soff | handed\soff
        | (?:has|have|is|are|was|were|been)\s(?:stopped|dropped)\b
        | (?<!right\s)now(?=\s?[.;!]|\s?$)
    """,
    Cue.ADJUST: rf"""
        dropped\b(?=\s(?:the|our|its|all|to)\b) | raised?\b | lowered\b | {_GREW}
        | bumped | extended\sto
        | introduced | shipped\b | (?:we|has|have|was|were|been|team|board)\sadopted
        | adopted\s(?:by|as)\b | bec[ao]mes?\sthe\b | scaled\s(?:up|down|to) | (?<![\w-])effective\b
        | \bput\s\w+\son\b
        | decided\sto\s(?:use|move|switch|go|drop|stop|replace|adopt|retire|run|keep|take)\b
        | consolidated | rolled\sout | opted\sfor | settled\son
        | (?<!\bare\s)(?<!\bis\s)(?:chose|picked)\b | appointed | brought\sforward | delayed\sto
        | doubled | halved | tripled | tightened | trimmed | restricted\sto | cut\s(?:from|to)\b
        | set\sto\b | abandoned | gave\sup | pushed\s(?:back\s)?to | slipped\sto | postponed
        | rescheduled | shifted | passe[sd]\sto | went\slive | inherit(?:s|ed)\b | changed\b
        | changes\s(?:from|to)\b | \bby\snow\b
    """,
    Cue.RETURN: r"""
        \b(?:is|are|was|were)\sback\b | ^back\s(?:to|on|at|in|with|again)\b
        | (?:is|are|was|were|went|goes?|gone|moved|switched|came|put|turned|changed|rolled|brought
            |set|flipped|pulled|now|fell|got|taken|took|sent|handed|gave|given|shifted|swapped|we)
            \s(?:\w+\s){0,4}back\s(?:to|on|at|in|with|again|from|for)\b
        | revert(?:ed|s|ing)?\b | roll(?:ed|ing)?[- ]?back | restor(?:ed|es)\b | resum(?:ed|es)\b
        | reinstat | re-?enabled | re-?activated | return(?:ed|s|ing)\sto\b | brought\sback
        | undone\b | undid\b | after\sall\b | as\s(?:originally|before)
        | original\s(?:date|plan|value|setting) | came\sback(?!\s(?:clean|clear
            |negative|positive|normal|empty|with)\b)
        | (?:moved|put|switched|turned|went|pulled)\s(?:\w+\s){0,3}back\b | revived
        | reintroduced | re-?adopted | we(?:'re|\sare)\sback | return\sto\b
    """,
    Cue.AGAIN: r"""
        \bonce\smore\b | \bagain\b
    """,
    Cue.END: r"""
        (?<!\bis\s)(?<!\bare\s)(?:deleted|wiped|erased|cancell?ed|destroyed)\b | dismantled
        | demolished | decommissioned | scrapped | \bscrap\b | shut\s(?:down|off)
        | shut\sfor\sgood | turned\s(?:[\w\s'-]{1,60}\s)?off\b | (?<!,\s)switched\soff | torn?\sdown
        | tore\s(?:\w+\s)?down | terminated | \bended\b | expired | lapsed | ran\sout
        | run\sout | discontinued | retired | (?:was|is|been|being)\ssunset\b | dissolved
        | bankrupt | insolvent | (?:was|were|been|got)\ssold | sold\s(?:to|off)
        | (?:handed|given|gave|sent|went)\sback\sto\b(?!\s(?:us|me|work)\b) | handed\sback
        | (?:took|taken)\s(?:[\w\s'-]{1,60}\s)?(?:off\sthe|down|offline)
        | sealed\soff | burned\sdown
        | (?<!then\s)(?<!then\sit\s)(?<!then\sthey\s)(?:is|are|was|were)\sgone\b
        | no\slonger\sexists? | (?:does|do)\snot\sexist | last\sday | left\s(?:the|us|for)\b
        | moved\s(?:away|out)\b | \bis\sover\b | \bdied\b | stopped\sall | wound\sup
        | powered\sdown | revoked | withdrawn | no\s\w+\sleft\b
        | there\sis\sno\b(?!\s(?:other|need|way|reason|\w+\s(?:in\sbetween|behind)))
        | closed\s(?:down|since|for\sgood)
        | (?:is|are|was|were)\sclosed\b(?!\s(?:on|every|at|between|over)\b)
        | (?:ceased|closing\sdown) | evicted | removed\sfor\sgood
        | \bformer\b | moved\sto\s(?=(?-i:[A-Z][a-z])) | unplugged | dropped\ssupport
        | taken\saway | (?:gave|given|giving)\sup\s(?:the|its|their|our)\b
        | (?:is|are|was|were)\soff\sthe\s(?:\w+\s)?(?:timetable|menu|market|list|schedule
            |programme|program|shelves)\b
        | pulled\sthe\splug | went\s(?:bust|under|dark|out\sof\sbusiness)
        | folded\b | defunct | disbanded | axed\b | phased\sout | end[- ]of[- ]life | \beol\b
        | resigned | \bquit\b | retires?\b | passed\saway | laid\soff | let\sgo\b
        | stepped\sdown | departed | vacated | evacuated | condemned | pulled\sdown
        | knocked\sdown | burn(?:ed|t)\s(?:out|to) | stolen | given\saway
        | (?:was|were|been|is|are)\sdonated | uninstalled | purged | out\sof\sservice
        | closed\sits\sdoors | shuttered | not\s(?:been\s)?renewed | delisted | written\soff
        | thrown\s(?:out|away) | unpublished
        | (?:took|taken|pulled)\s(?:[\w\s'-]{1,60}\s)?out\sof\s(?:service|use|production)
        | ceased\b | torn\sout
        | (?:ripped|torn|tore|pulled|stripped|cut)\s(?!an?\s|some\s)(?:[\w\s'-]{1,60}\s)?out\b
        | offboarded | vanished
        | lost\s(?:its|their|the)\s(?:licen[cs]e|lease|permit)
        | (?<!\bis\s)(?<!\bare\s)removed\b | (?:is|are)\sout\b(?=\s?(?:$|[.,;:]|and\b))
        | (?:its|their|his|her)\slast\s(?:days?|weeks?|months?|shifts?|working|season)\b
        | nothing\sto\sdo\swith | beyond\srepair
    """,
    Cue.SUCCESSOR: r"""
        \bin\s(?:his|her|its|their)\s(?:place|stead) | \btakes?\sover\b | \btook\sover\b
        | \b(?:takes?|has|covers?|does)\s[\w\s]{1,30}\sfrom\s(?=[A-Z]|next|then|now)
        | \b(?:covers?|replaces?|does)\s(?:it|them|this|that)\b | \bstand(?:s|ing)?\sin\b
        | \binstead\b | \bsucceed(?:s|ed)\b
    """,
    Cue.SETTLE: r"""
        correction(?=\s?[:,.;-]) | correct(?:ed)?\s(?:number|figure|value|date|is)\b
        | had\s(?:that|it)\swrong | misread | sorry | typo\b | (?:is|was|were|are)\swrong\b
        | \b(?:by|my|our|a)\smistake\b | \bmistakenly\b | disregard
        | ignore\s(?:the|earlier|what) | forget\s(?:the|about)
        | decided\sin | decision\s?: | decided\s?: | final\sdecision | settled\b | agreed\son
        | confirmed\b(?!\sfor\s(?!good\b|sure\b|now\b|\d)) | checked\sthe
        | looked\sit\sup | verified
        | (?:was|were|been)\sexecuted\b | clarif | in\sfact\b | earlier\snotes?
        | (?:is|are)\shistory\b | obsolete
        | superseded | withdrawn | no\slonger\svalid | rejected\b(?=.{0,200}(?:proposal|idea))
        | (?:proposal|idea)\b.{0,200}(?:rejected|declined|dropped) | not\sused\sany\s?more
        | was\sonly\s(?:in|for) | struck\b | not\s\d[\w.]*\s?[.,;]
        | changed\sour\sminds? | turns\sout | for\sthe\srecord | the\sactual\b
        | double-?checked | cleared\sup | ruled\sthat | outdated | no\slonger\sappl
        | can\sbe\signored | replaces\sthe\s(?:earlier|old|previous) | overrides
        | it\swas\sestablished | do\snot\srely\son
    """,
    Cue.TEMPORARY: rf"""
        temporar | \binterim\b | meanwhile | for\snow\b | for\sthe\stime\sbeing
        | while\s\w+\b(?=[^.;,]{0,60}\b(?:away|leave|holiday|off|out|ill
            |sick|closed|down|repair\w*|renovat\w*|rebuil\w*|built|construction|migrat\w*|abroad
            |travel\w*|lasts?|being)\b) | \bpaused\b | stand-in\b | stand(?:s|ing)?\sin\sfor\b
        | (?:until|till)\s(?:{_DATE}|he|she|they|it|we|then)\b
        | until\s[\w\s]{{1,60}}\s(?:is|are)\s(?:back|done|fixed|ready) | \bonly,?\sfrom\b
        | \b(?:holiday|sick)\scover\b | \bfreeze\b | sabbatical | parental\sleave | short-?term
        | stop-?gap | one-?off | on\s(?:holiday|leave|vacation|trial)\b | \bmaternity
        | this\sweek\sonly | as\san\sexception | for\sthe\sduration | provisional
        | until\s[\w\s]{{1,60}}\s(?:ends?|expires?|closes?)\b
        | for\sthe\s(?:season|summer|winter|event)\b | \bexceptionally\b
        | \bas\s(?:a\s)?deputy\b
    """,
    Cue.UNREAL: rf"""
        ^idea\b | \bidea\s?: | \bproposal\b(?!\s{_THINGS}\b) | propos(?:ed|es|ing)\b
        | could\s(?:use|try|move|switch|go|also|consider|do|become|run|replace)\b
        | could\sbe\s(?:an?|used|moved|replaced)\b | \bmight\b | \bmaybe\b | \bperhaps\b
        | option(?:s)?\s(?:for|are|is)\b | leaning\stowards | considering | evaluating
        | would\sbe\b | should\swe\b | do\swe\b
        | \bif\swe\s(?:were|did|had|could|would|\w+ed)\b | \bto\stry\b | trial\srun
        | what\sif | \bspike\b | tried\s(?:a|an|out)\b | not\sshipped | experiment\b
        | \bdraft\b(?!\s(?:\w+s|that|which|older|stays|{_THINGS})\b) | quoted\b
        | game\s?day | tabletop
        | (?<!writing\s)(?<!written\s)exercise\b(?!\s{_THINGS}\b)
        | simulat(?!ors?\b) | hypothetical
        | scenario | \bplan(?:s|ned)?\sto\b | (?<!\byou\s)(?<!\bwho\s)\bwants?\sto\b | compared\b
        | \basked\swhether
        | suggest(?:s|ed|ion)\b | recommend(?:s|ed|ation)?\b | thinking\s(?:about|of)
        | brainstorm | \brfc\b | prototype(?!\s{_THINGS}\b) | \bpoc\b | proof\sof\sconcept
        | \bmock\b(?!-?ups?\b) | \bjoke\b
        | rumou?r | hearsay | imagine\b | shortlist(?:ed)?\s(?:are|is)\b | was\sasked\sabout
        | wishes?\b
        | (?:thanks(?!\sto\b)|thank\syou|wow|hey|congrats|haha|lol|btw|gonna|yeah|yep|woah)\b
    """,
    Cue.PROGRESS: r"""
        \bstage\s(?:one|two|three|four|five|\d+)\b | \bphase\s(?:one|two|three|\d+)\b
        | \b(?:is|are|all)\sdone\b(?!\sby) | \bdone\s?:
        | (?<!\ba\s)(?<!\ban\s)(?<!\bthe\s)\bfinished\b
        | \bcompleted?\b(?!\s\w+s?\b) | \bin\s(?:review|progress)\b | \bunblocked\b
        | \breopened\b | \bso\sfar\b | \bhalf\s(?:of\s)?the\b
    """,
    Cue.PAST: r"""
        (?<!\bis\s)(?<!\bare\s)(?<!\bbe\s)(?<!\bbeen\s)(?<!\bnever\s)(?<!\bonly\s)used\sto\b
        | formerly | previously | in\sthe\spast | back\sthen
        | (?:old|former)\s(?:wiki|docs?|page|setup|runbook) | \bhad\sbeen\b
        | until\s(?:last|then|recently)\b | \blegacy\snotes?\b
        | \bwhat\s\w+\s(?:had|was|were)\b
    """,
}  # fmt: skip

# "Releases are cut from main" is a habit, "releases were cut from main" a change.
_NO_HABIT: Final = r"(?<!\bis\s)(?<!\bare\s)(?<!\bnever\s)"
_COMPILED: Final = {
    cue: re.compile(
        (_NO_HABIT if cue is Cue.ADJUST else "") + rf"(?<!\w)(?:{pattern})",
        re.IGNORECASE | re.VERBOSE,
    )
    for cue, pattern in _PATTERNS.items()
}


# "once probation has ended", "when the lease expires": a condition, nothing that has happened.
_CONDITION: Final = re.compile(
    r"\b(?:once|when|whenever|if|unless|as\ssoon\sas|by\sthe\stime|until|till)\b"
    r"[^,:;.?!\n]*+[,:;.?!\n]?",
    re.IGNORECASE,
)
# "Switched off at the end of next year", "will be retired": nothing is gone yet.
_AHEAD: Final = re.compile(
    r"\b(?:(?:will|shall|to)\sbe|(?:is|are)\s(?:going|about|due|scheduled)\sto|"
    r"(?:by|at|until)\sthe\s(?:end|start|beginning)\sof\s(?:next|this|the)\s\w+|"
    r"next\s(?:week|month|quarter|year|spring|summer|autumn|winter))\b",
    re.IGNORECASE,
)
_PIECE: Final = re.compile(r"[^.;!?]+[.;!?]*")
_IRREGULAR: Final = (
    "went|got|took|left|came|began|sent|bought|sold|made|met|told|brought|paid|won|lost|ran|gave|split|"
    "started|peaked|reported|said|asked|had"
)
# Right behind an article it describes a thing: "the lost property desk".
_NO_ARTICLE: Final = (
    r"(?<!\b[Tt]he\s)(?<!\b[Aa]n\s)(?<!\b[Aa]\s)(?<!\b[Oo]ur\s)(?<!\b[Tt]heir\s)(?<!\b[Ii]ts\s)"
)
_EVENT: Final = re.compile(
    rf"^(?:[\w'&()/.-]+\s){{0,5}}?{_NO_ARTICLE}(?:(?:{_IRREGULAR})\b|"
    r"\w{3,}ed(?=[,.;]|$|\s(?:to|from|with|by|in|into|on|off|"
    r"at|for|as|and|up|down|out|over|via|through|the|a|an|our|its|his|her|their|all|\d\S*|[A-Z]\S*)\b))"
)
_HEAD_END: Final = re.compile(r"(?<=[.,;:!?])\s")
_STATE_VERB: Final = re.compile(
    r"\b(?:is|are|has|have|must|may|can|should|shall|will|need|needs|do|does|be|gets?|lives?|runs?|"
    r"uses?|keeps?|goes|go|stays?|comes?)\b",
    re.IGNORECASE,
)


# "Once issued, …", "watches that took in water are …", "the supported version is 14".
_BEFORE_PARTICIPLE: Final = re.compile(
    r"^(?:once|when|if|where|unless|as|after)\b|\b(?:that|which|who)\s\S+$", re.IGNORECASE
)
_MAIN_VERB_AFTER: Final = re.compile(
    r"(?:\s(?!that\b|which\b|who\b|because\b|where\b|so\b|it\b|this\b|there\b|and\b|the\b)[\w'-]+){0,5}?"
    r"\s(?:is|are|must|may)\s",
    re.IGNORECASE,
)


def _is_event(text: str) -> bool:
    """Return whether a sentence reports a happening: a past verb before any verb of state."""
    head = _HEAD_END.split(text, maxsplit=1)[0]
    match = _EVENT.match(head)
    if match is None or _STATE_VERB.search(head[: match.end()]) or head.endswith("?"):
        return False
    if _BEFORE_PARTICIPLE.search(match[0]) or _MAIN_VERB_AFTER.match(head[match.end() :]):
        return False
    return not head.endswith(":") or " " not in match[0]


# "closed for two weeks" ends by itself, "kept for two weeks" is a standing rule.
_SPAN: Final = re.compile(
    r"\b(?:for|next)\s(?P<length>(?:an?|one|two|three|four|five|six|\d+)\s(?:days?|weeks?))\b|"
    rf"(?<!ed\s)\bfrom\s(?:the\s)?\d{{1,2}}(?:st|nd|rd|th|\.)?(?:\s{MONTH_PATTERN})?\s(?:to|until|till)\s"
    rf"(?:the\s)?\d{{1,2}}(?:st|nd|rd|th|\.)?\s{MONTH_PATTERN}\b",
    re.IGNORECASE,
)
# "Next week the shop opens at 9": of that week alone, unless it tells what happens then.
_OF_A_PERIOD: Final = re.compile(
    rf"^(?:(?:next|this|the\scoming)\s(?:week|weekend|month|{WEEKDAY_PATTERN})|today|tomorrow|"
    rf"tonight)\b|\b(?:this|next|coming)\s{WEEKDAY_PATTERN}(?=\W*$)",
    re.IGNORECASE,
)
_STEP: Final = re.compile(
    r"\b(?:move|switch|migrate|change|replace|start|stop|drop|launch|retire|introduce|begin)s?\b",
    re.IGNORECASE,
)
_HAPPENS: Final = frozenset(
    {Cue.SWITCH, Cue.ADJUST, Cue.RETURN, Cue.END, Cue.SETTLE, Cue.EVENT, Cue.PROGRESS}
)
_KEEPING: Final = re.compile(
    r"\b(?:keep|keeps|kept|retain\w*|retention|hold|holds|held|stor(?:e|es|ed)|valid|cached?|lasts?|"
    r"stays?|remain\w*|works?|available|readable|playable|on\sdisk)\b",
    re.IGNORECASE,
)


def _drop_unreal(text: str) -> str:
    """Return a text without conditions and without announcements of the future."""
    pieces = _PIECE.findall(_CONDITION.sub(" ", text))
    return " ".join(piece for piece in pieces if not _AHEAD.search(piece))


# To send again or never to look again brings nothing back.
_NO_RETURN: Final = re.compile(
    r"\b(?:never|not|nobody|no\sone)\b[^.;,]{0,60}\bagain\b|"
    r"\b(?:sen[dt]s?|try|tries|retry|rerun|asks?|restarts?|calls?|rings?|logs?\sin|opens?)"
    r"\s(?:\w+\s){0,2}again\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=16384)
def cues(text: str) -> frozenset[Cue]:
    """All cues of ``text``, one sentence or several."""
    text = without_user(text)
    unconditional = _drop_unreal(text)
    found = {
        cue
        for cue, pattern in _COMPILED.items()
        if pattern.search(unconditional if cue is Cue.END else text)
    }
    if _SPAN.search(text) and not _KEEPING.search(text):
        found.add(Cue.TEMPORARY)
    if _is_event(text) and slot_of(text) is None:  # "X was founded by Y" is said of X
        found.add(Cue.EVENT)
    is_step = bool(_STEP.search(text)) or not found.isdisjoint(_HAPPENS)
    if _OF_A_PERIOD.search(text) and not is_step:
        found.add(Cue.TEMPORARY)
    if Cue.AGAIN in found and _NO_RETURN.search(text):
        found.discard(Cue.AGAIN)
    return frozenset(found)


def lengths_of_spans(text: str) -> list[str]:
    """Return how long the spans of a text are that make it a temporary one: "a week"."""
    return [match["length"] for match in _SPAN.finditer(text) if match["length"]]


def enclosed_by(cue: Cue, text: str) -> str:
    """Return the words inside a cue: "took the shuttle out of service" the shuttle."""
    return " ".join(match[0] for match in _COMPILED[cue].finditer(_drop_unreal(text)))
