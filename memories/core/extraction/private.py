"""Read the words by which a speaker keeps something off the record, or takes it back."""

from __future__ import annotations

import re
from typing import Final

from memories.core.function_words import words_of
from memories.core.text import terms

# "Don't store this: …" and what says the same, at the beginning of a clause.
_CLAUSE: Final = (
    r"(?:^|[,;:.(\u2013\u2014-] ?)(?:(?:please|and|but|so|ok|okay|also|now|just),? ){0,3}"
)
_PRIVATE = re.compile(
    rf"{_CLAUSE}(?:"
    r"(?:do not|don['\u2019]t|never|no need to)(?: please| ever)? (?:store|save|record|remember|"
    r"memori[sz]e|note|write|keep|log|put)(?: down)? (?:any of )?(?:the following"
    r"|what (?:i|we)|(?:this|that|it|these)"
    r"(?=(?:$| ?[,.:;!?)\u2013\u2014-]| (?:please|but|because|as|or|and|in|to|for|down)\b)))\b"
    r"(?! (?:in|on|to|at|under|as|for) (?!(?:your |the |my )?(?:memory|notes|record)))"
    r"|(?:do not|don['\u2019]t) (?:store|record|remember|memori[sz]e) my\b"
    # "Never store that Elke is ill", "Do not save: …"; not "never store that file in the cache".
    r"|(?:(?:do not|don['\u2019]t|never)(?: please| ever)? (?:store|save|record|remember|"
    r"memori[sz]e|note|write|keep|log)(?: down)?|forget)(?: ?:"
    r"|,? that (?=(?:[\w'\u2019-]{1,30} ){1,5}(?:am|is|are|was|were|has|have|had|will|would|can|"
    r"could|should|must|may|do|does|did|\w{2,15}(?:[^\Wsu]s|ed))\b))"
    r"|i (?:do not|don['\u2019]t|no longer) want you to "
    r"(?:store|save|record|remember|keep|note|know)\b"
    r"|i (?:do not|don['\u2019]t) want (?:this|that|it) (?:to be )?(?:stored|saved|recorded|kept|"
    r"remembered|written)"
    r"|(?:this|that|it|the following)(?: is|['\u2019]s| must| should| may)? not (?:to )?(?:be )?"
    r"(?:stored|saved|recorded|remembered|for the record|for your (?:memory|notes))"
    r"|(?:(?:this|that|it)(?: is|['\u2019]s) )?(?:strictly )?off the record\b"
    r"|(?:keep|take) (?:this|that|it) off the record\b)",
    re.IGNORECASE,
)
# The same of all that is said about something: "keep my address off the record", "forget what I
# said about Ana".
_TOPIC = re.compile(
    rf"{_CLAUSE}(?:"
    r"(?:keep|take|leave) (?P<kept_off>(?:[\w'\u2019-]{1,30} ){1,6})"
    r"(?:off the record|out of (?:your|the) (?:memory|memories|notes?|records?))"
    r"|(?:forget|erase|delete|remove|drop) (?:everything|all|anything|what(?:ever)?)(?: that)?"
    r" (?:i|we)(?:['\u2019]ve| have)?(?: just)? (?:said|told you|wrote|written|mentioned)"
    r" (?:about|on|of) (?P<said>[^.!?\n]{1,100})"
    r"|(?:do not|don['\u2019]t|never)"
    r" (?:store|save|record|remember|memori[sz]e|note|keep|make|take)(?: down)?"
    r" (?:anything (?:about|on)|an?y? (?:records?|notes?|memory) (?:of|about|on))"
    r" (?P<about>[^.!?\n]{1,100})"
    r"|(?:(?:do not|don['\u2019]t) (?:store|record|remember|memori[sz]e)|forget(?: about)?)"
    r" (?P<own>my (?:[\w'\u2019-]{1,30} ){0,3}[\w'\u2019-]{1,30})(?= ?(?:[,;.!]|$)))",
    re.IGNORECASE,
)
# "Actually scratch that, …", "never mind, forget it": the statement before is taken back.
_TAKING_BACK = (
    r"(?:scratch|strike|forget|disregard|ignore|cancel|undo) (?:that|it|what i (?:just )?said)"
    r"|(?:i )?take (?:that|it) back|never ?mind(?= ?(?:[,.;:!\u2013\u2014-]|$))"
)
RETRACTING = re.compile(
    r"(?:(?:actually|no|nope|oh|oops|sorry|wait|well|hm+|please|ok|okay|and|but|never ?mind)"
    rf"[,;.\u2013\u2014-]? {{1,2}}){{0,4}}(?:{_TAKING_BACK})(?: please| again)?"
    r"(?: ?[,.;:!)\u2013\u2014-]{1,3}| but(?= )|$)",
    re.IGNORECASE,
)
# Says at the beginning of a turn that something else does not matter.
NEVER_MIND = re.compile(r"[\w, ]{0,20}\bnever ?mind\W*$", re.IGNORECASE)
# Where words that take something back may begin within a sentence, and which do so anywhere there.
_BREAK = re.compile(r"[,;:(\u2013\u2014.!]+ ?| - ")
_STRONG = re.compile(r"scratch|strike|forget|\btake ", re.IGNORECASE)
_HESITATING: Final = words_of("actually no nope oh oops sorry wait well hm hmm never nevermind")
_SUBORDINATE = re.compile(
    r"(?:[\w ]{0,30}\bthat )?(?:if|when|whenever|once|unless|whoever|in case|before|after)\b", re.I
)
_RETRACTED_CHARS: Final = 2000  # of a sentence, in which words that take it back are looked for


def asks_not_to_store(text: str) -> bool:
    """Return whether a statement asks not to store what it says or what stands beside it."""
    return _PRIVATE.search(text) is not None or _TOPIC.search(text) is not None


def without_private_words(text: str) -> str:
    """Return a statement without the words that ask not to store it, or take something back."""
    return RETRACTING.sub(" ", _PRIVATE.sub(" ", text))


def private_terms(text: str) -> tuple[frozenset[str], bool]:
    """Return the index terms of what is not to be stored, and whether all about them is meant."""
    topic = _TOPIC.search(text)
    if topic is not None:
        return frozenset(terms(" ".join(filter(None, topic.groups())))), True
    return frozenset(terms(without_private_words(text))), False


def find_retraction(transcript: str, start: int, end: int) -> tuple[int, int] | None:
    """Return where words take something back: at the beginning, or behind what they take back."""
    found = RETRACTING.match(transcript, start, end)
    if found is not None:
        return found.span()
    for boundary in _BREAK.finditer(transcript, start, min(end, start + _RETRACTED_CHARS)):
        found = RETRACTING.match(transcript, boundary.end(), end)
        if found is None or _SUBORDINATE.match(transcript, start, boundary.start()):
            continue
        is_strong = _STRONG.search(found[0]) is not None
        is_hesitant = found[0].split(maxsplit=1)[0].strip(",;.!").lower() in _HESITATING
        if is_strong or is_hesitant:
            return boundary.end(), found.end()
    return None
