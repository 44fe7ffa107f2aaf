"""Patterns of the words by which a speaker keeps something off the record, or takes it back."""

from __future__ import annotations

import re
from typing import Final

# "Don't store this: …" and what says the same, at the beginning of a clause.
_CLAUSE: Final = (
    r"(?:^|[,;:.(\u2013\u2014-] ?| (?=(?:and|but) ))"
    r"(?:(?:please|and|but|so|ok|okay|also|now|just|actually|no|wait|sorry"
    r"|on (?:reflection|(?:second|further) thoughts?)),? ){0,3}"
)
_STORING: Final = r"(?:store|save|record|remember|memori[sz]e|note|write|keep|log|retain|put)"
_LAST: Final = (
    r"(?:that|the|my) (?:last|previous) (?:one|bit|part|thing|statement|sentence|request|note)"
)
_STORED: Final = (
    r"(?:stored|saved|recorded|remembered|memori[sz]ed|kept|logged|retained|written down)"
)
_MEMORY: Final = r"(?:(?:your |the )?(?:memory|memories|notes?|records?))"
# What somebody says of themselves; what they work on is saved or not for other reasons.
_SAVE: Final = r"(?:save|note|log|retain|write down)"
_MY_OWN: Final = (
    r"my (?!(?:last |latest |new )?(?:changes?|edits?|files?|drafts?|progress|code|config|settings?"
    r"|documents?|branch(?:es)?|quer(?:y|ies)|outputs?|sessions?|logs?|scripts?|data"
    r"|work(?! \w{3,20} ?[.,;!]))\b)"
)
_ENDS_WORDS: Final = r"$| ?[,.:;!?)\u2013\u2014-]| (?:please|but|because|as|after|at|anymore)\b"
PRIVATE = re.compile(
    rf"{_CLAUSE}(?:"
    r"(?:do not|don['\u2019]t|never|no need to)(?: please| ever)? "
    rf"{_STORING}(?: down)? (?:any of )?(?:the following|{_LAST}|what (?:i|we)"
    r"|(?:this|that|it|these)"
    r"(?=(?:$| ?[,.:;!?)\u2013\u2014-]| (?:please|but|because|as|or|and|in|to|for|down"
    r"|after|at|anywhere|either|anymore)\b)))\b"
    r"(?! (?:in|on|to|at|under|as|for) (?!(?:your |the |my )?(?:memory|notes|record)))"
    r"|(?:do not|don['\u2019]t) (?:(?:store|record|remember|memori[sz]e) my\b"
    rf"|{_SAVE} {_MY_OWN})"
    rf"|you (?:must|should|may|can|need|do)(?: not|n['\u2019]t)(?: (?:need|have) to)? {_STORING}"
    rf"(?: down)? (?:(?:this|that|it|the following)\b(?={_ENDS_WORDS})|what (?:i|we)\b|{_MY_OWN})"
    r"|(?:do not|don['\u2019]t|never)(?: please| ever)? (?:(?:commit|add) (?:this|that|it|these"
    rf"|the following) to (?:{_MEMORY})|persist (?:this|that|the following)(?= ?:))"
    rf"|what (?:i|we)(?:['\u2019]\w{{1,2}})? (?:\w{{1,12}} ){{0,4}}(?:must not|mustn['\u2019]t"
    rf"|is not to|should not|shouldn['\u2019]t|may not) be {_STORED}"
    rf"|not (?:to be {_STORED}|for (?:the record|storage|{_MEMORY}))\b"
    r"|forget(?: that)? (?:i|we) (?:ever )?(?:said|mentioned|wrote|told you) (?:that )?(?=\w+ \w)"
    r"|(?:i|we)(?:['\u2019](?:m|re|ll)| am| are| will)? (?:tell(?:ing)?|say(?:ing)?)(?: you)?"
    r" (?:this|that|it) (?:strictly )?(?:off the record|in confidence|between (?:us|you and me))\b"
    # "Never store that Elke is ill", "Do not save: …"; not "never store that file in the cache".
    r"|(?:(?:do not|don['\u2019]t|never)(?: please| ever)? (?:store|save|record|remember|"
    r"memori[sz]e|note|write|keep|log)(?: down)?|forget)(?: ?:"
    r"|,? that (?=(?:[\w'\u2019-]{1,30} ){1,5}(?:am|is|are|was|were|has|have|had|will|would|can|"
    r"could|should|must|may|do|does|did|\w{2,15}(?:[^\Wsu]s|ed))\b))"
    r"|i (?:do not|don['\u2019]t|no longer) want you to "
    r"(?:store|save|record|remember|keep|note|know)\b"
    r"|i (?:do not|don['\u2019]t) want (?:this|that|it) (?:to be )?(?:stored|saved|recorded|kept|"
    r"remembered|written)"
    r"|i(?: would|['\u2019]d) (?:rather|prefer(?: it)? if) you (?:did not|didn['\u2019]t|do not"
    r"|don['\u2019]t) (?:store|save|record|remember|keep|note|log)\b"
    r"|(?:this|that|it|the following)(?:(?: is|['\u2019]s| was| must| should| may)? not|"
    r" (?:isn|wasn|mustn|shouldn)['\u2019]t) (?:to )?(?:be )?"
    r"(?:stored|saved|recorded|remembered|for (?:the record|storage)|for your (?:memory|notes)"
    r"|(?:end up|appear|go|land) in(?:to)? (?:your|the) (?:memory|notes|records?))"
    r"|(?:(?:this|that|it)(?: is|['\u2019]s| was) )?(?:strictly )?off the record\b"
    r"|(?:(?:this|that|it) (?:stays|remains|is) )?(?:just |strictly )?between"
    r" (?:us|ourselves|you and me)(?=[,:.!]|$)"
    r"|(?:keep|take) (?:this|that|it) off the record\b"
    r"|keep (?:this|that|it) (?:to yourself|between (?:us|ourselves|you and me))\b"
    r"|(?:do not|don['\u2019]t|never)(?: please| ever)?"
    r" (?:write|note|put) (?:this|that|it) (?:down|on (?:the )?record)"
    r"|no (?:memory|memories|notes?|record) (?:for|of|about) (?:this|that)(?: one| bit)?\b"
    r"|(?:only |just )?for (?:this|our) (?:chat|conversation|session) only\b"
    rf"|(?:do not|don['\u2019]t|never)(?: please)? {_STORING}(?= ?[).!]{{0,3}}$))",
    re.IGNORECASE,
)
_IN_YOURS: Final = r"(?:in|into) your (?:memory|memories|notes?|records?|files?)"
_ON_RECORD: Final = r"on (?:the )?(?:record|file)"
_OFF: Final = (
    r"(?:off (?:the|your) record"
    r"|out of (?:(?:your|the) (?:memory|memories|notes?|records?)|your files?))"
)
_ENDS_UP: Final = r"(?:to )?(?:end up|appear|be|go|land|turn up|show up)"
_LANDS: Final = rf"{_ENDS_UP} (?:{_IN_YOURS}|{_ON_RECORD})"
_THING: Final = r"(?:[\w'\u2019-]{1,30},? ){1,8}"
# Of others' things people decide how they are stored, and of what a team runs whether it is at all:
# "Our API keys must not be logged." is a rule.
_OWN: Final = rf"(?:my|our|what (?:i|we)) {_THING}"
_MY: Final = rf"my {_THING}"
_KEPT_NOWHERE: Final = rf"(?:to )?be {_STORED}"
_ENDS: Final = r"(?= ?(?:[.,;!]|$)| (?:anywhere|at all|please|by you))"
# The same of all that is said about something: "keep my address off the record", "forget what I
# said about Ana".
TOPIC = re.compile(
    rf"{_CLAUSE}(?:"
    rf"(?:keep|take|leave|hold) (?P<kept_off>{_THING}){_OFF}"
    r"|(?:do not|don['\u2019]t|never) (?:store|save|keep|put|leave|have) "
    rf"(?:(?P<kept>{_THING}){_IN_YOURS}|(?P<own_kept>{_OWN}){_ON_RECORD})"
    rf"|(?:do not|don['\u2019]t|never) let (?P<let>{_THING}){_ENDS_UP} {_IN_YOURS}"
    r"|(?:i|we) (?:do not|don['\u2019]t)(?: ever)? (?:want|like) "
    rf"(?:(?P<unwanted>{_THING})(?:{_ENDS_UP} )?{_IN_YOURS}"
    rf"|(?P<own_unwanted>{_OWN})(?:{_ON_RECORD}|{_LANDS})"
    rf"|(?P<my_unwanted>{_MY})(?:{_KEPT_NOWHERE}|{_STORED}))"
    rf"|(?P<mine>{_OWN})(?:(?:(?:must |should |has to |have to )?(?:stays?|remains?)|is|are)"
    rf" (?:strictly )?{_OFF}|(?:must|should|may|is|are)(?: not|n['\u2019]t) {_LANDS}{_ENDS})"
    rf"|(?P<my>{_MY})(?:must|should|may|is|are)(?: not|n['\u2019]t) {_KEPT_NOWHERE}{_ENDS}"
    rf"|nothing (?:about|on|of) (?:(?P<nothing>{_OWN})(?:must|should|may|is|can) {_LANDS}"
    rf"|(?P<my_nothing>{_MY})(?:must|should|may|is|can) {_KEPT_NOWHERE})"
    r"|(?:(?:make|take|keep) )?no (?:notes?|records?|memory|memories) (?:about|of|on)"
    r" (?P<no_notes>my [^.!?\n]{1,100})"
    r"|(?:forget|erase|delete|remove|drop) (?:everything|all|anything|what(?:ever)?)(?: that)?"
    r" (?:i|we)(?:['\u2019]ve| have)?(?: just)? (?:said|told you|wrote|written|mentioned)"
    r" (?:about|on|of) (?P<said>[^.!?\n]{1,100})"
    r"|(?:do not|don['\u2019]t|never)"
    r" (?:store|save|record|remember|memori[sz]e|note|keep|make|take)(?: down)?"
    r" (?:anything (?:about|on)|an?y? (?:records?|notes?|memory) (?:of|about|on))"
    r" (?P<about>[^.!?\n]{1,100})"
    r"|(?:(?:do not|don['\u2019]t|never) (?:store|record|remember|memori[sz]e)|forget(?: about)?)"
    r" (?P<own>my (?:[\w'\u2019-]{1,30} ){0,3}[\w'\u2019-]{1,30})(?= ?(?:[,;.!]|$))"
    rf"|(?:do not|don['\u2019]t|never) {_SAVE} (?P<own_saved>{_MY_OWN}"
    r"(?:[\w'\u2019-]{1,30} ){0,3}[\w'\u2019-]{1,30})(?= ?(?:[,;.!]|$)))",
    re.IGNORECASE,
)
# "Don't store anything from this chat", "this whole conversation is off the record".
_TALK: Final = (
    r"(?:this|our|the|today['\u2019]s) (?:(?:whole|entire|present|current) )?"
    r"(?:chat|conversation|session|discussion|talk|call|exchange)(?: today)?"
)
_OF_TALK: Final = (
    rf"(?:(?:from|of|in|during|about) (?:{_TALK}|what (?:i|we) (?:say|said|discuss|talk)\w{{0,5}})"
    r"|(?:that )?(?:i|we) (?:say|said|discuss|discussed)\b)"
)
CONVERSATION = re.compile(
    rf"{_CLAUSE}(?:"
    rf"(?:do not|don['\u2019]t|never|(?:i|we) (?:do not|don['\u2019]t) want you to)(?: please)? "
    rf"{_STORING}(?: down)? (?:anything|any) {_OF_TALK}"
    r"|(?:do not|don['\u2019]t)(?: please)? (?:remember|memori[sz]e) anything(?= ?(?:[.!;]|$))"
    rf"|(?:do not|don['\u2019]t|never|(?:i|we) (?:do not|don['\u2019]t) want you to)(?: please)? "
    rf"{_STORING}(?: any of)? (?:this|our)(?: (?:whole|entire))?"
    r" (?:chat|conversation|session|discussion)\b(?! (?:as|to|in|into|under|with|so|yet)\b)"
    r"|(?:(?:this is|let['\u2019]s (?:use|have)|use|go|switch to) )?(?:an? )?(?:temporary chat"
    r"|incognito(?: (?:mode|chat))?|(?:private|off-the-record) (?:chat|mode|session))"
    r"(?= ?(?:[.,;!\u2013\u2014-]|$| please\b))"
    rf"|{_STORING} nothing {_OF_TALK}"
    rf"|(?:nothing|none) (?:{_OF_TALK}|of this)[\w ]{{0,20}} (?:should|must|may|can|is to) be"
    rf" {_STORED}"
    rf"|{_TALK} (?:(?:is|was|stays|must stay|should stay) (?:strictly )?off the record\b"
    rf"|(?:is|must|should|may)(?: not|n['\u2019]t) (?:to )?be {_STORED})"
    rf"|keep {_TALK} (?:off the record|out of (?:your|the) (?:memory|notes|records?)))",
    re.IGNORECASE,
)
# "Actually scratch that, …", "never mind, forget it": the statement before is taken back.
_SAID_THAT: Final = (
    r"what (?:i|we)(?:['\u2019]ve| have)?(?: just)? (?:said|wrote|told you|mentioned)"
)
_WHY: Final = r"(?:private|confidential|secret|wrong|not (?:true|right)|a (?:joke|mistake))"
MISTAKEN: Final = (
    r"(?:that|this|it)(?:['\u2019]s| is| was) (?:only |just )?"
    r"(?:wrong|incorrect|not (?:true|right)|nonsense|an error|a (?:test|joke|mistake))"
    r"|(?:i was |i['\u2019]m |i am )?(?:only |just )(?:joking|kidding|testing)"
    r"|(?:i was|i['\u2019]m|i am) (?:joking|kidding|testing)"
)
_TAKING_BACK = (
    r"(?:scratch|strike|forget|disregard|ignore|cancel|undo|erase|unremember)"
    rf" (?:{_LAST}|that|it|{_SAID_THAT})"
    r"(?: from (?:your|the) (?:memory|memories|notes?|records?))?"
    rf"|(?:delete|remove|drop|wipe) (?:{_SAID_THAT}"
    r"|(?:that|it|this) (?:from|out of) (?:your|the) (?:memory|memories|notes?|records?))"
    r"|forget(?: that)? i (?:ever )?(?:said|mentioned|wrote) (?:anything|that|it|so)"
    r"|(?:i )?take (?:that|it) back|never ?mind(?= ?(?:[,.;:!\u2013\u2014-]|$))"
)
RETRACTING = re.compile(
    r"(?:(?:actually|no|nope|oh|oops|sorry|wait|well|hm+|please|ok|okay|and|but|never ?mind"
    rf"|you (?:can|may|could|should)|{MISTAKEN})"
    rf"[,;.\u2013\u2014-]? {{1,2}}){{0,4}}(?:{_TAKING_BACK})(?: please| again)?"
    rf"(?:, (?:it|that)(?:['\u2019]s| is| was) {_WHY})?"
    r"(?: ?[,.;:!)\u2013\u2014-]{1,3}| but(?= )|$)",
    re.IGNORECASE,
)
