"""Patterns of English requests to remember: how they are asked, of what, and where it is kept."""

from __future__ import annotations

import re
from typing import Final

_NOUN: Final = (
    r"(?:facts?|things?|points?|details?|info|information|rules?|preferences?|notes?|items?"
    r"|statements?|decisions?|lines?|corrections?|conventions?|instructions?|entry|entries|data|list|ones?)"
)
_SAID: Final = (
    rf"(?:(?:the following|these|those)(?: (?:\w{{2,12}} )?{_NOUN})?"
    rf"|(?:the|this|some|a few|two|three|four|five|several) (?:\w{{2,12}} )?{_NOUN}(?: below)?"
    r"|an? (?:\w{2,12} )?memory|this|that|it)"
)
_WHERE: Final = (
    r"(?:(?:in|into|to|on|onto) (?:(?:your|the|my|our|long-term|permanent) ){1,2}"
    r"(?:memory|memories|notes?|notebook|records?|mind|knowledge(?: base)?)|(?:in|into|to) memory"
    r"|for (?:later|good|ever|always|me|us|reference|next time|the (?:future|record)"
    r"|(?:future|later) \w{2,15}|(?:your|our|the|my) (?:records?|notes|memory|reference))"
    r"|as an? (?:fact|memory|note|rule|preference|reminder|constraint|convention)"
    r"|on record|to memory|from now on)"
)
_ADVERB: Final = (
    r"(?:please|pls|kindly|also|just|always|too|then|now|down|again|well|ever|forever|somewhere"
    r"|\w{2,12}ly)"
)
_OPENERS: Final = (
    r"(?:(?:please|pls|plz|kindly|just|and|but|so|ok|okay|also|hey|hi|hello|oh|well|yes|right|now|then|first"
    r"|finally|importantly|important|btw|by the way|/\w{1,20})[,:]? ){0,4}"
)
_ASKS_POLITELY: Final = r"(?:can|could|will|would|may|might) you"
_FRAME: Final = (
    rf"(?:(?P<polite>{_ASKS_POLITELY})(?: mind)?"
    r"|(?:i|we)(?:'d| would| do)? (?:want|need|like|love|expect|ask|prefer|wish)(?: for)? you to"
    r"|(?:i|we)(?:'d| would) (?:be \w{2,12}|appreciate it) if you(?: could| would)?"
    r"|you (?:should|must|ought to|need to|have to|might want to|may want to|had better)"
    r"|it(?:'s| is|'d be| would be| will be) (?:\w{2,20} ){1,3}"
    r"(?:that you(?: should)?|if you(?: could| would)?|for you to|to)"
    r"|(?:i|we)(?:'ve| have)? (?:told|asked) you to|let(?:'s| us)"
    r"|(?:make|be) sure(?: that)?(?: you| to| and)(?: to)?|do|try to)"
)
CLAUSE: Final = re.compile(
    rf"(?P<openers>{_OPENERS})(?:(?P<frame>{_FRAME}) )?(?:{_ADVERB} ){{0,2}}"
    r"(?:(?P<remember>(?:remember|memori[sz]e|(?:keep|bear) in mind)(?:ed|d)?|remembering"
    r"|memori[sz]ing|keeping in mind|(?:don't|do not|never)(?: ever)? forget|remind yourself)"
    rf"|(?:keep|bear|keeping) (?P<minded>{_SAID}) in mind"
    r"|(?P<note>(?:note|noted|noting|(?:make|making|take|taking|keep|keeping) (?:an? |some )?"
    r"(?:mental )?notes?)"
    r"(?: of)?)"
    r"|(?P<store>(?:store|save|record|note|memori[sz]e)(?:d|s)?|(?:add|put|write|jot|log|enter|keep|get"
    r"|retain|commit|mark)|(?:stor|sav|not|writ)ing|(?:record|add|putt|jott|keep)ing))"
    rf"(?P<how>(?:,? (?:{_ADVERB}|{_WHERE})){{0,3}})(?:,? (?P<said>{_SAID})(?![\w'-]))?"
    rf"(?P<how_then>(?:,? (?:{_ADVERB}|{_WHERE})){{0,3}})(?P<sep> ?:| that\b| ?[,\u2013\u2014]| -|)"
    r"(?![\w'-])",
    re.IGNORECASE,
)
# "Note to self: …", "Things to remember: …", "For the record, …", "Before I forget: …".
HEAD: Final = re.compile(
    rf"{_OPENERS}"
    r"(?:(?:(?:an?|one|another|some|quick|short|important|more|here(?: is|'s| are)|the) ){0,3}"
    rf"(?:(?:notes?|memos?)(?: (?:to|for) \w{{2,10}}){{0,2}}"
    rf"|(?:something|{_NOUN}) (?:(?:to|worth)"
    rf" (?:remember|not|keep|bear|stor|sav|memori[sz])\w{{0,6}}(?: in mind)?|{_WHERE})) ?:"
    r"|for (?:the|your|our|my) (?:records?|notes|memory|reference|files)(?= ?[,:]| )"
    r"|for (?:future|later) reference(?= ?[,:])|before i forget(?= ?[,:])"
    r"|let the record (?:show|state|reflect)(?: that)?(?= )"
    r"|(?:i|we)(?: would|'d)? (?:want|need|like) (?:this|that|it) (?:to be )?"
    rf"(?:written|noted|recorded|stored|saved|remembered)(?: (?:{_ADVERB}|{_WHERE})){{0,2}}"
    r"(?= ?[,:.!]|$))",
    re.IGNORECASE,
)
BOUNDARY: Final = re.compile(r"[,;:.!(\u2013\u2014]+ ?| - | (?=(?:and|but|so) )")
IN_YOUR_MEMORY: Final = re.compile(
    r" (?:in|into|to) (?:your|long-term)(?: \w{2,12})? (?:memory|memories|notes|knowledge base)"
    r"(?: please)?[.!?]*$",
    re.IGNORECASE,
)
# Words that say that something is written down, or where or for what it is kept.
PLACES: Final = re.compile(rf"\bdown\b|{_WHERE}")
