"""Tell clauses that introduce, attribute or ask about the text of others from a speaker's own.

Read by structure: what a clause is (an order, a question, a statement, a phrase without a verb),
whom it speaks of, and whether it points on to a text ("this", "the following", "below").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, Literal

from memories.core.extraction.cues import COURTESY, FIRST, SECOND
from memories.core.extraction.private import asks_not_to_store
from memories.core.extraction.request_clauses import FINITE
from memories.core.extraction.request_grammar import find_request
from memories.core.extraction.shown_titles import is_source, is_title
from memories.core.extraction.shown_words import (
    DEICTIC,
    OWN,
    QUESTION_WORDS,
    READING,
    RECEIVING,
    SAYING,
    TEXTS,
    TO_THE_ASKED,
    is_text_phrase,
    plain_clause,
    points_on,
    words_in,
)
from memories.core.function_words import (
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    PREPOSITIONS,
    PRONOUNS,
    words_of,
)

Reach = Literal["", "line", "turn"]

# "Let me say this: …", "Listen to this: …": what follows is the speaker's own.
_ANNOUNCING: Final = words_of(
    "let know get hear mark listen understand believe trust imagine say saying tell sorry thanks"
    " hello hi hey dear remember note"
)
_ASKED_OF_TEXT: Final = words_of("is are was were does do should can could would will did")
_YOU_CAN: Final = re.compile(r"(?:can|could|would|will) (?:you|u)(?: please)? ", re.IGNORECASE)
_LINKS: Final = (CONJUNCTIONS | words_of("also additionally furthermore plus")) - words_of(
    "if when unless"
)
_WE: Final = words_of("i we you")


def introduces(clause: str, sign: str, then: str, *, is_alone: bool) -> Reach:
    """Return how far a text of others reaches that a clause introduces, "" where it does not.

    To the end of the turn, or of the line where the clause only says whose the text is.

    Parameters
    ----------
    clause : str
        Words up to a sign or the end of a line.
    sign : str
        ":", "?", "." or "!" that ends the clause, "" for the end of a line.
    then : str
        How what follows begins.
    is_alone : bool
        Whether nothing follows the clause in its line.
    """
    plain = plain_clause(clause)
    words = words_in(plain)
    if not words or asks_not_to_store(f"{plain}{sign}"):
        return ""
    asks_from = _request_position(plain, sign, then)
    if asks_from is not None:  # also of "Read this page and store the following:"
        left = plain[:asks_from].strip(" ,;")
        return "turn" if _orders_of_text(left, words_in(left), "", is_alone=True) else ""
    is_order = _orders_of_text(plain, words, sign, is_alone=is_alone)
    if is_order or _asks_about(words, sign, is_alone=is_alone):
        return "turn"
    is_shown = sign == ":" or is_alone
    is_named = (is_shown and (_says(words, sign) or _presents(words, sign))) or (
        sign == ":" and (is_source(plain) or is_title(words, then, is_alone=is_alone))
    )
    return ("turn" if is_alone else "line") if is_named else ""


def _request_position(plain: str, sign: str, then: str) -> int | None:
    """Return where a clause asks to remember, by itself or with what follows; None for nowhere."""
    for text in (f"{plain}{sign}", f"{plain}{sign} {then}"):
        asked = find_request(text)
        if asked is not None and words_in(plain[asked.clause :]):
            return asked.clause
    return None


def opens_with_link(text: str) -> bool:
    """Return whether a sentence joins what was said before: "And please …", "Also, …"."""
    words = text[:40].split()
    return bool(words) and words[0].strip(",").lower() in _LINKS


def _asks_about(words: Sequence[str], sign: str, *, is_alone: bool) -> bool:
    """Return whether a question is about a text: "Is this phishing?", "Anything odd below?"."""
    if words[-1] in TO_THE_ASKED or (sign != "?" and not is_alone):
        return False
    if words[0] in _ASKED_OF_TEXT and len(words) > 2 and words[2] not in _RUNNING:
        is_opinion = words[0] in _OPINION and words[1] == "you"  # "Would you trust this?"
        is_about = words[1] in DEICTIC or is_text_phrase(words[1:4])
        return is_about or (is_opinion and points_on(words))
    if words[0] in QUESTION_WORDS:
        is_of_that = not READING.isdisjoint(words) and "that" in words
        is_of_text = is_of_that or points_on(words) or is_text_phrase(words[1:5])
        return is_of_text and _RUNNING.isdisjoint(words)
    if sign != "?":
        return words[0] == "tl;dr" or words[:2] == ["tl", "dr"]
    is_ellipsis = is_alone and len(words) <= _MOST_OF_ELLIPSIS and FINITE.isdisjoint(words)
    is_of_text = is_ellipsis and FIRST.isdisjoint(words) and words[0] not in _NO_ELLIPSIS
    return is_of_text or (points_on(words) and "you" not in words)


_OPINION: Final = words_of("would do did")
_RUNNING: Final = words_of("work works happen happens")
_MOST_OF_ELLIPSIS: Final = 3
_NO_ELLIPSIS: Final = (
    QUESTION_WORDS | COURTESY | words_of("ready else more anything any really you when")
)


def _orders_of_text(plain: str, words: Sequence[str], sign: str, *, is_alone: bool) -> bool:
    """Return whether it is an instruction about a text: "Make this friendlier:"."""
    asked = _YOU_CAN.search(plain)
    words = words_in(plain[asked.end() :]) if asked is not None and asked.start() < 12 else words
    if not words:
        return False
    if words[0] == "into" and sign == ":":
        return True
    if words[0] in _SUBJECTS or words[0] in _ANNOUNCING or words[0].endswith(("ing", "ed", "'s")):
        return False
    is_on = points_on(words)
    if words[0] in READING:
        has_text = is_text_phrase(words[1:4]) or is_text_phrase(words[2:5])
        is_handed = sign == ":" and _OWNED.isdisjoint(words)  # not "Answer to your question:"
        return is_handed or is_on or (has_text and (is_alone or sign == "?"))
    if sign == ":":
        is_list = len(words) <= 2 and words[-1] in DEICTIC  # "And this:"
        points = not DEICTIC.isdisjoint(words[1:]) or (is_alone and "it" in words[1:2])
        return points and not is_list
    return is_alone and is_on and not _SHOWN.isdisjoint(words)


_OWNED: Final = words_of("my our your")
_SHOWN: Final = TEXTS | words_of("following below")
_SUBJECTS: Final = (
    DETERMINERS
    | PRONOUNS
    | PREPOSITIONS
    | AUXILIARIES
    | FIRST
    | SECOND
    | QUESTION_WORDS
    | {"here", "here's"}
) - {"like"}


def _says(words: Sequence[str], sign: str) -> bool:
    """Return whether somebody else said something: "The README says", "My boss pinged me"."""
    if words[0] in _WE or words[0] in AUXILIARIES:
        return False
    at = next((at for at, word in enumerate(words) if at and word in SAYING), 0)
    if not at or not _WE.isdisjoint(words[max(at - 3, 0) : at]):
        return False
    rest = [word for word in words[at + 1 :] if word not in _BESIDE]
    is_reported = rest[:1] == ["to"]
    is_shown = sign in {"", ":"} or not DEICTIC.isdisjoint(words[at + 1 :])  # not "Bo replied."
    return is_shown and not is_reported and len(rest) <= _MOST_BEHIND and FINITE.isdisjoint(rest)


_BESIDE: Final = DEICTIC | words_of("the with me us")
_MOST_BEHIND: Final = 4


def _presents(words: Sequence[str], sign: str) -> bool:
    """Return whether a text is handed over: "Got this over chat:", "Here is the mail"."""
    first = [word for word in words if word not in {"just", "have", "i've", "we've", "i'm"}]
    if first and first[0] in {"i", "we"}:
        first = first[1:]
    if not first:
        return False
    names_text = not TEXTS.isdisjoint(words) and not _is_own_text(words)
    if first[0] in RECEIVING:
        is_named = names_text and (sign == ":" or not {"a", "an"}.isdisjoint(words))
        is_from = sign == ":" and first[1:2] in (["from"], ["by"])
        return is_named or is_from or not _RECEIVED.isdisjoint(words[:5]) or "below" in words
    if words[0] in {"here", "here's", "below"} or words[:2] == ["the", "following"]:
        is_others = "what" in words and not OWN & set(words[words.index("what") :])
        return names_text or is_others or (words[0] == "the" and "from" in words)
    if words[0] in {"this", "these"} and len(words) > 1:
        is_one = words[1] in FINITE or words[1] in {"just", "came", "arrived", "popped", "appeared"}
        is_sent = not _ARRIVING.isdisjoint(words[1:4])
        return is_one and (is_sent or (names_text and sign == ":"))
    if words[0] == "see" and not {"below", "attached", "attachment"}.isdisjoint(words):
        return True
    return "below" in words and not RECEIVING.isdisjoint(words)


_RECEIVED: Final = words_of("it this these following")
_ARRIVING: Final = words_of("came arrived popped appeared landed turned showed from sent")


def _is_own_text(words: Sequence[str]) -> bool:
    """Return whether a text is the speaker's: "my report", "the mail that I wrote"."""
    wrote = any(a in {"i", "we"} and b in _WRITING for a, b in pairwise(words))
    own = (at for at, word in enumerate(words) if word in {"my", "our"})
    return wrote or any(
        not TEXTS.isdisjoint(words[at + 1 : at + 3]) and "from" not in words for at in own
    )


_WRITING: Final = words_of("wrote write drafted made sent")
