"""Patterns of English requests to remember: how they are asked, of what, and where it is kept."""

from __future__ import annotations

import re
from typing import Final

_NOUN: Final = (
    r"(?:facts?|things?|points?|details?|info|information|rules?|preferences?|notes?|items?"
    r"|thoughts?|statements?|decisions?|lines?|corrections?|conventions?|instructions?|entry|entries|data|list|ones?)"
)
_SAID: Final = (
    rf"(?:(?:the following|these|those)(?: (?:\w{{2,12}} )?{_NOUN})?"
    rf"|(?:the|this|some|a few|two|three|four|five|several) (?:\w{{2,12}} )?{_NOUN}(?: below)?"
    r"|an? (?:\w{2,12} )?memory|this|that|it|something(?= ?[,:.?!]| for (?:me|us|later)))"
)
# What conversations that follow are called: "for our next chats".
_TALKS: Final = r"(?:times?|chats?|conversations?|sessions?|talks?|messages?|questions?|answers?)"
_WHERE: Final = (
    rf"(?:for (?:(?:the|our|your|my|all|any) ){{0,2}}(?:next|coming|future|later) {_TALKS}"
    r"(?= ?[:.!?]|$)"
    r"|(?:in|into|to|on|onto) (?:(?:your|the|my|our|long-term|permanent) ){1,2}"
    r"(?:memory(?: bank)?|memories|notes?|notebook|records?|mind|knowledge(?: base)?)"
    r"|(?:in|into|to) memory"
    r"|for (?:later|good|ever|always|me|us|reference|next time|the (?:future|record)"
    r"|(?:future|later) \w{2,15}|(?:your|our|the|my) (?:records?|notes|memory|reference))"
    r"|(?:on|at) hand(?: later| then)?"
    r"|as an? (?:fact|memory|note|rule|preference|reminder|constraint|convention)"
    r"|on (?:the |(?:my|our) )?(?:record|file)|(?:in|into|to) your (?:files?|head)"
    r"|to what you (?:already )?know(?: (?:about|of) \w{2,20})?|to memory|from now on)"
)
_ADVERB: Final = (
    r"(?:please|pls|kindly|also|just|always|too|then|now|down|away|handy|again|well|ever|forever"
    r"|somewhere(?: safe)?|instead"
    r"|\w{2,12}ly)"
)
_LATER: Final = (
    r"(?:next|coming|upcoming|future|later|following)(?: (?:few|two|three|four|\d{1,2}))?"
)
_TALKING: Final = (
    r"(?:we|you|i) (?:next )?(?:talk|speak|chat|meet|ask|write|call)"
    r"(?: (?:again|next|me|you|about (?:it|this|that)))?"
)
_WHEN: Final = (
    rf"(?:(?:for|in|during|on) (?:(?:the|our|your|my|all|any|every) ){{0,2}}{_LATER}"
    r"(?: \w{2,15})?"
    rf"|(?:the )?{_LATER} (?:{_TALKS}|days?|weeks?|weekends?|months?|years?|visits?|meetings?"
    rf"|calls?)(?: {_TALKING})?|(?:for )?when(?:ever)? {_TALKING}|in (?:the )?(?:near )?future"
    r"|(?:going|moving) forward|from (?:now|today|here|then|this (?:day|point))"
    r" (?:on(?:wards?)?|forward)|(?:for )?(?:later|next|always|ever|good)(?: on)?|henceforth"
    r"|as well)"
)
# What is said of later conversations alone: "for next time", "going forward".
_FOR_LATER: Final = (
    rf"(?:(?:(?:for|in|during|on) )?(?:(?:the|our|your|my|all|any|every) ){{0,2}}{_LATER} {_TALKS}"
    r"|(?:for|in) (?:the )?(?:near )?future|for later|(?:going|moving) forward|henceforth"
    r"|from (?:now|today|here|then) (?:on(?:wards?)?|forward))"
)
# Words that name nothing but a time: "(remember that) next time, please".
ONLY_TIME: Final = re.compile(
    rf"(?:{_WHEN}|{_ADVERB})(?:[ ,]{{1,3}}(?:{_WHEN}|{_ADVERB})){{0,3}}", re.IGNORECASE
)
# Behind an order: courtesy, or a question by its form only.
TAG: Final = re.compile(
    r"(?:(?:,? (?:will|would|can|could|won't) you|, (?:ok|okay|alright|all right|please|yes))"
    r"(?: please)? ?\?{1,3}|, (?:please|pls|thanks|thank you)[.!]{0,3}) ?$",
    re.IGNORECASE,
)
_OPENERS: Final = (
    r"(?:(?:please|pls|plz|kindly|just|and|but|so|ok|okay|also|hey|hi|hello|oh|well|yes|right|now|then|first"
    r"|finally|importantly|important|instead|btw|by the way|/\w{1,20}"
    r"|(?:claude|chatgpt|gpt|gemini|copilot|assistant)(?= ))[,:]? ){0,4}(?:[/#](?=\w))?"
)
_YOU: Final = r"(?:you|u|ya)"
_ASKS_POLITELY: Final = (
    rf"(?:(?:can|could|will|would|may|might) {_YOU}|why don['\u2019]t {_YOU})(?:,? please,?)?"
)
_MIND: Final = r"(?:in|at|on) (?:the back of )?(?:your )?mind"
_IN_MIND: Final = rf"(?:keep|bear) {_MIND}"
_REMEMBERS: Final = (
    rf"(?:remember|{_IN_MIND}|memori[sz]e|(?:don't|do not|won't|will not|never) forget)"
)
# "It's vital you": not "it's nice you", which praises.
_MATTERS: Final = (
    r"it(?:(?:'s| is|'d be| would be| will be) (?:(?:so|very|quite|really|absolutely) )?"
    r"(?:important|vital|crucial|critical|essential|imperative|necessary|key)"
    r"(?: to (?:me|us))?|(?: really)? matters(?: to (?:me|us))?)(?: that)? you"
    r"(?: should| must| all| always)?"
)
_FRAME: Final = (
    rf"(?:(?P<polite>{_ASKS_POLITELY})(?: mind)?"
    r"|(?:i|we)(?:'d| would| do)?(?: really| just| only)?"
    r" (?:want|need|like|love|expect|ask|prefer|wish)(?: for)? you to"
    r"|(?:i|we)(?:'d| would)(?: really)? (?:be \w{2,12}|(?:appreciate|like|love|prefer) it)"
    r" if you(?: could| would|['\u2019]d)?"
    r"|help me(?: to)?|(?:i|we) need to"
    r"|(?:i|we)(?: do| really)? hope(?: that)? you(?:'ll| will)"
    rf"|{_MATTERS}|it(?:'d| would|'ll| will| might| may)?(?: really)? helps?"
    r" (?:if you(?: could| would)?|to)"
    r"|you(?:'d| would) do well to|make a point of|ensure(?: that)?(?: you| to)"
    r"|you(?:'ll| will) (?:want|need|have) to"
    rf"|{_YOU} (?:should|must|ought to|need to|have to|might want to|may want to|had better)"
    r"|it(?:'s| is|'d be| would be| will be) (?:\w{2,20} ){1,3}"
    r"(?:that you(?: should)?|if you(?: could| would)?|for you to|to)"
    r"|(?:i|we)(?:'ve| have)? (?:told|asked) you to|let(?:'s| us)"
    r"|(?:make|be) sure(?: that)?(?: you| to| and)(?: to)?|do|try to"
    r"|(?:that|this)(?:'s| is| was) (?:\w{2,12} ){0,2}(?:important|essential|vital|useful|good) to"
    r"(?= (?:remember|note|keep in mind)\W{0,3}$))"
)
CLAUSE: Final = re.compile(
    rf"(?P<openers>{_OPENERS})(?:(?P<frame>{_FRAME}) )?(?:{_ADVERB} ){{0,2}}"
    rf"(?:(?P<remember>(?:remember|memori[sz]e|(?:keep|bear|kept) {_MIND})(?:ed|d)?|remembering"
    r"|rememeber|remeber|rember|remmember"
    r"|memori[sz]ing|keeping in mind"
    r"|(?:don't|do not|didn't|did not|never)(?: ever)? (?:let (?:me|us|yourself) )?forget"
    r"|remind yourself"
    r"|(?:don't|do not|never)(?: ever)? let (?:this|that|it) (?:ever )?slip"
    r" (?:from )?your (?:mind|memory))"
    rf"|(?:keep|bear|have|keeping) (?P<minded>{_SAID}) {_MIND}"
    r"|(?P<bear>(?:keep|bear) (?P<thing>(?:the|my|our) (?:[\w'-]{1,20} ){0,2}[\w'-]{1,20})"
    rf" {_MIND})"
    r"|(?P<note>(?:note|noted|noting|(?:make|making|take|taking|keep|keeping) (?:an? |some )?"
    r"(?:mental )?notes?|add a note(?= that )|(?:leave|write|make) yourself an? (?:\w{2,12} )?note)"
    r"(?: of)?)"
    # Of things, too: they ask to remember where a clause stands behind "this:" or "the fact that".
    r"|(?P<hold>(?:hold|hang)(?:ing)? on ?to|keep(?:ing)? (?:hold|track) of"
    r"|(?:keep(?:ing)?|make|making) an? (?:record|log)(?: of)?"
    r"|(?:don't|do not|never) lose(?: (?:hold|track|sight) of)?|pin|bookmark|capture|preserve)"
    r"|(?P<place>take|have|hold(?! (?:this|that) thought)|file|stick|tuck|stash|lodge|burn|etch"
    r"|engrave|drill)"
    # Idioms about other things that announce what to remember before a colon or a dash only.
    r"|(?:hold (?:on to )?(?:this|that) thought|lock (?:(?:this|that|it|the following) )?in"
    r"|(?:don't|do not|never)(?: ever)? let (?:this|that|it) (?:ever )?(?:slip|get lost"
    r"|escape you)(?: (?:away|by|through))?)(?= ?[:\u2013\u2014]| -)"
    r"|(?P<store>(?:store|save|record|note|memori[sz]e)(?:d|s)?|(?:add|put|write|jot|log|enter|keep|get"
    r"|retain|commit|mark)|(?:stor|sav|not|writ)ing|(?:record|add|putt|jott|keep)ing))"
    rf"(?P<how>(?:,? (?:{_ADVERB}|{_WHERE})){{0,3}})(?:,? (?P<said>{_SAID})(?![\w'-]))?"
    rf"(?P<how_then>(?:,? (?:{_ADVERB}|{_WHERE})){{0,3}})"
    r"(?P<sep> {0,3}:| that\b| ?[,\u2013\u2014]| -|)"
    r"(?![\w'-])",
    re.IGNORECASE,
)
# What announces a fact before "that", a colon or a dash.
_REMINDER: Final = (
    r"(?:as )?(?:(?:an?|another|one|this is|here(?:'s| is)|quick|short|small|little|friendly|gentle"
    r"|kind|general|important|final|last) ){0,4}reminder(?:s(?=[^,.;!?\u2013\u2014-]{0,20}:))?"
    r"(?: (?:to|for) (?:self|myself|yourself|me|you|us|later|everyone))?"
)
_REMINDING: Final = (
    r"(?:(?:i|i'm|i am|let me|may i)(?: just| only)? |just |only )?remind(?:ing)? you(?: again)?"
)
_UPDATE: Final = (
    r"update your (?:memory|memories|notes?|records?|files?)"
    r"(?: (?:to|and) (?:say|show|reflect|state|include|note|add))?"
)
_WORTH: Final = (
    r"(?:(?:it|that)(?:'s| is) )?(?:also |well )?worth"
    r" (?:remembering|keeping in mind|memori[sz]ing|writing down|storing)"
)
# "One thing you mustn't forget: …", "What I want you to remember is that …".
_TO_REMEMBER: Final = (
    r"(?:(?:you(?:'d| had)? (?:must|should|need to|have to|ought to|better|want to)"
    r"|(?:i|we)(?:'d| would)? (?:want|need|like|ask) you to)(?: please)?(?: always)?"
    r" (?:remember|keep in mind|bear in mind|memori[sz]e)"
    r"|(?:you(?:'d| had)? (?:mustn't|must not|must never|shouldn't|should not|should never|can't"
    r"|cannot|may not|better not|are not to|aren't to)|(?:i|we)(?:'d| would)? (?:want|need|like)"
    r" you (?:not to|never to|to not|to never)|(?:i|we) (?:don't|do not) want you to|not to)"
    r"(?: ever)? (?:forget|overlook))"
)
_WHAT: Final = (
    rf"(?:(?:(?:an?|one|another|some|the|two|three|here(?: is|'s)|first|last|main|only|more|other"
    rf"|important) ){{0,3}}(?:{_NOUN}|something)(?: (?:that|which))?|what) {_TO_REMEMBER}"
    r"(?: (?:here|now|next time|for \w{2,10}))?"
)
# "You should know for next time that …", "for next time, you should know that …".
_KNOW: Final = (
    r"(?:(?:(?:just )?so(?: that)? you|you(?:'d better| should| must| need to| ought to| have to"
    r"|(?:'ll| will) (?:want|need) to)"
    r"|(?:i|we)(?:'d| would)? (?:want|need|like) you to|it(?:'s| is|'d be| would be) \w{2,12}"
    r" (?:(?:for you )?to|if you)) (?:please )?(?:also )?)?"
    r"(?:knew|know|be aware|were aware)(?: (?:of )?this)?"
)
_ANNOUNCED: Final = r"(?: that(?= )| ?[:\u2013\u2014]| -(?= ))"
_KNOWING: Final = (
    rf"(?:{_KNOW},? {_FOR_LATER}(?:{_ANNOUNCED}|,)|{_FOR_LATER},? {_KNOW}{_ANNOUNCED}"
    rf"|(?:fyi|for your information),? {_FOR_LATER}(?:{_ANNOUNCED}|,)"
    r"|(?:this|that|here)(?: one)?(?:'s| is) (?:one )?"
    r"for (?:the|your|our|my) (?:records?|notes|memory|files)(?: ?[:\u2013\u2014]| -(?= )))"
)
# "Note to self: …", "Things to remember: …", "For the record, …", "Before I forget: …".
HEAD: Final = re.compile(
    rf"{_OPENERS}"
    rf"(?:{_WHAT}(?: ?:| (?:is|are)(?: this)?(?: ?:| that(?= )))"
    r"|(?:(?:an?|one|another|some|quick|short|mental|important|more|here(?: is|'s| are)|the) ){0,3}"
    rf"(?:(?:notes?|memos?)(?: (?:to|for) \w{{2,10}}){{0,2}}"
    rf"|(?:something|{_NOUN})(?: for (?:you|me|us|everyone))? (?:(?:to|worth)"
    rf" (?:remember|not|keep|bear|stor|sav|memori[sz])\w{{0,6}}(?: in mind)?|{_WHERE}))"
    r"(?: ?:| (?:is|are) that(?= ))"
    # For what something is said: "Just so you remember, …".
    rf"|(?P<purpose>(?:(?:so|in order)(?: that)? you(?:'ll| will| can| always){{0,2}}"
    rf" (?:{_REMEMBERS}|have (?:it|this|that)(?: {_WHERE}| handy)?)"
    rf"|lest you forget|(?:in order )?for you to (?:{_REMEMBERS}|not forget)"
    rf"|to make sure(?: that)? you (?:{_REMEMBERS})(?: it| this| that)?)"
    r"(?= ?[,:\u2013\u2014]| -))"
    r"|for (?:the|your|our|my) (?:records?|notes|memory|reference|files)(?= ?[,:]| )"
    r"|for (?:future|later) reference(?= ?[,:])|before i forget(?= ?[,:])"
    r"|(?:for next time|n\.?b\.?|nota bene)(?= ?:)"
    r"|let (?:the record (?:show|state|reflect)"
    r"|it be (?:noted|recorded|remembered|on (?:the )?(?:record|file)))(?: that)?(?= )"
    r"|(?:i|we)(?: would|'d)? (?:want|need|like) (?:this|that|it) (?:to be )?"
    r"(?:(?:written|noted|recorded|stored|saved|remembered)|(?:kept )?(?=on (?:record|file)))"
    rf"(?: ?(?:{_ADVERB}|{_WHERE})){{0,2}}(?: that(?= )|(?= ?[,:.!]|$))"
    r"|update your (?:memory|memories|notes?|records?|files?) (?:to|and) (?:say|state)"
    r"(?= (?!that\b)\w)"
    r"|(?:add|new|save|store|create)(?: (?:an?|this|the))? memory(?: entry)?(?: ?:)"
    rf"|(?P<knowing>{_KNOWING})"
    rf"|(?:{_REMINDER}|{_REMINDING}|{_UPDATE}|{_WORTH})(?: that(?= )| ?[,:\u2013\u2014]| -(?= )))",
    re.IGNORECASE,
)
BOUNDARY: Final = re.compile(r"[,;:.!(\u2013\u2014]+ ?| - | (?=(?:and|but|so) )")
MEMORY_PLACE: Final = re.compile(
    r"\b(?:your|long-term)(?: \w{2,12})? (?:memory|memories|notes?|notebook|records?|knowledge)\b"
)
IN_YOUR_MEMORY: Final = re.compile(
    r" (?:in|into|to) (?:your|long-term)(?: \w{2,12})? (?:memory|memories|notes|knowledge base)"
    r"(?: please)?[.!?]*$",
    re.IGNORECASE,
)
# Words that say that something is written down, or where or for what it is kept.
PLACES: Final = re.compile(rf"\bdown\b|{_WHERE}")
# "Can you note down my address?": what it is follows.
POLITE_DETAIL: Final = re.compile(
    rf"{_OPENERS}{_ASKS_POLITELY}(?: please)? (?:remember|memori[sz]e|save|store|record|keep"
    r"|(?:note|write|jot)(?: down)?|(?:make|take|keep) an? note of)"
    r" (?P<detail>(?:my|our) (?:[\w'-]{2,20} ){0,2}(?:names?|nicknames?|address(?:es)?|numbers?"
    r"|birthdays?|preferences?|pronouns|diets?|allerg(?:y|ies)|sizes?|hours|roles?|rules?|conventions?"
    r"|details?|deadlines?|plans?|requirements?|choices?|emails?|opinions?))"
    rf"(?: ?(?:{_ADVERB}|{_WHERE})){{0,2}} ?\?{{1,3}}",
    re.IGNORECASE,
)
