"""Words and phrases that speak for or against keeping a statement: closed classes of English.

Quantifiers, adverbs of time, hedges, pronouns, and a few verbs of deciding, wanting and noting;
none is here because of one transcript.
"""

from __future__ import annotations

import re

from memories.core.calendar_words import MONTHS, SEASONS, WEEKDAYS
from memories.core.function_words import words_of
from memories.core.tokeniser import stems

# Quantifiers over times and things: what holds for all of them holds beyond this conversation.
UNIVERSAL = words_of(
    "always never ever every everything everybody everyone each all any anything"
    " anybody whenever wherever whoever both only generally usually normally"
)
HEDGES = words_of(
    "maybe perhaps might possibly probably likely unsure seems seem seemingly"
    " apparently guess suppose hunch wonder hope hopefully could roughly somehow"
)
HERE_AND_NOW = words_of(
    "now today tonight tomorrow yesterday here meanwhile currently just still"
    " already soon later yet moment minute minutes morning afternoon evening"
)
FIRST = words_of("i i'm i'll i've i'd me my mine we we're we'll we've we'd us our ours")
SECOND = words_of("you your yours you're you'll you've")
WANTING = stems("want prefer like dislike hate love need wish insist refuse expect require")
DECIDING = stems(
    "decide agree settle rule policy standard principle convention decision lesson"
    " takeaway agreement norm default limit deadline owner responsible"
)
LASTING = stems(
    "stay remain keep stand hold own belong mean require allow forbid ban count become"
    " retire replace apply"
)
COURTESY = words_of(
    "thanks thank thx ty ok okay great good perfect nice cool fine sure yes no yep"
    " right cheers hello hi bye lovely wonderful haha lol done noted agreed clear"
    " exactly correct excellent super wow oh ah hm hmm"
)
FROM_NOW_ON = re.compile(
    r"\b(?:from (?:now|today|then|this|next|the|\d\S{0,9}|jan\w*|feb\w*|mar\w*|apr\w*|may|june?|"
    r"july?|aug\w*|sep\w*|oct\w*|nov\w*|dec\w*|monday|tuesday|wednesday|thursday|friday)\b"
    r"|as of\b|starting (?:with|from|in|on)?\b|in (?:the )?future\b|for good\b|for (?:next|all)\b"
    r"|next time\b|no longer\b|not any ?more\b|any ?more\b|no more\b|any longer\b|permanent"
    r"|at (?:most|least)\b|no later than\b|with (?:immediate )?effect\b|until further\b)",
    re.IGNORECASE,
)
# What stands before the words of somebody else: "Ole wrote: remember that …".
REPORTING = re.compile(
    r"(?<!\bi )(?<!\bwe )\b(?:says|said|wrote|writes|reads|asks|asked|told)(?: \w{1,20}){0,3}: ",
    re.IGNORECASE,
)
# At the beginning or the end of a statement: its speaker declares that it holds from then on.
_STANDING = (
    r"(?:from (?:now|today|tomorrow|this day|here|next \w{3,9}) on(?:wards?)?|going forward"
    r"|henceforth|in (?:the )?future|until further notice"
    r"|(?:for|in) (?:all|every|each|any) future \w{3,20})"
)
STANDING_FIRST = re.compile(
    rf"(?:(?:and|so|but|ok|okay|also|please|yes|right|well),? ){{0,2}}{_STANDING}\b",
    re.IGNORECASE,
)
STANDING_LAST = re.compile(rf"\b{_STANDING}[.!]*$", re.IGNORECASE)
# What has to be so; "I need" and "you have to" say what somebody wants at the moment.
OBLIGED = re.compile(
    r"(?<!\bi )(?<!\byou )\b(?:must|has to|have to|needs?(?= (?:to\b|an?\b|\w{2,20}$))|is required"
    r"|are required|is not allowed|are not allowed)\b",
    re.IGNORECASE,
)
RULE_WORD = re.compile(r"\b(?:rule|policy|standard|practice|lesson|takeaway|decision)\b", re.I)
# "Let's keep to that.", "That's decided.", "New rule.": of the sentence before it, that it lasts.
RATIFYING = re.compile(
    r"\b(?:(?:let's|let us|we|i)(?: \w{1,12})? (?:keep|stick|hold) (?:to )?(?:that|this|it)|"
    r"(?:that|this|it)(?:'s| is| was| will be| stays| remains| applies| goes| holds)\b.{0,20}\b"
    r"(?:decided|agreed|settled|final|fixed|standard|rule|policy|it|always|all|now on)|new rule|"
    r"(?:we|they|both|all)(?: \w{1,12})? (?:agreed|decided|said|settled))\b",
    re.IGNORECASE,
)
# A question without its mark: a question word, or the verb before its subject.
ASKING = re.compile(
    r"^(?:(?:and|so|but|ok|okay|well|wait),? ){0,2}"
    r"(?:why|how (?:many|much|long|about|do|does|is|are|can)|which ones?"
    r"|what (?:about|is|are|was|do|does|did|happened)|where (?:is|are|do|does|did)"
    r"|who (?:is|are|does|did|has)|do (?:i|you|we|they)"
    r"|(?:is|are|am|was|were|does|did|can|could|should|shall|would) "
    r"(?:i|you|we|they|it|he|she|that|this|there|the))\b",
    re.IGNORECASE,
)
NUMBER = re.compile(r"\d")
ACRONYM = re.compile(r"[a-z0-9][_./-][a-z0-9]|[A-Z]{2,}|[a-z][A-Z]")
CORRECTING = re.compile(
    r"\b(?:had (?:that|it) wrong|was wrong|i was mistaken|correction|actually|in fact|not \S{1,20}"
    r" but|instead of|rather than)\b",
    re.IGNORECASE,
)
PROGRESSIVE = re.compile(r"^(?:i'm |we're |i am |we are )?(?!during\b)[a-z]{2,18}ing\b", re.I)
I_WILL = re.compile(r"\b(?:i'll|i will|i'd|i would|let me|shall i|i'm (?:going|off)|i can)\b", re.I)
I_HAVE = re.compile(r"\b(?:i've|i have|i (?:just )?\w{2,18}ed)\b", re.IGNORECASE)
CONSENT = re.compile(
    r"^\W*(?:noted|agreed|clear|understood|done|recorded|stored|saved|written|added|set|entered|"
    r"in the notes|right|good|fine|ok|okay|yes|got it|will do|changed|i've|i'll|then)\b",
    re.IGNORECASE,
)  # fmt: skip
NOTED = re.compile(
    r"\b(?:noted|recorded|stored|remembered|written down|in the notes|made a note|note(?:d)? for|"
    r"in my notes|in the note|saved that)\b",
    re.IGNORECASE,
)
QUOTATION = re.compile(r"[\"\u201c][^\"\u201c\u201d]{1,500}[\"\u201d]")
DAYS = frozenset(
    [*WEEKDAYS, *(f"{day}s" for day in WEEKDAYS), *MONTHS, *SEASONS, "weekend", "week", "month",
     "year", "monthly", "weekly", "yearly", "daily", "quarterly"]
) - {"may", "march"}  # fmt: skip
