"""Whatever reads a caller's text takes time in proportion to it, up to what rules read at all.

The public entries of the three cores are fed texts that are hard for parsers: one construction
over and over, at lengths up to the longest memory.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count

import numpy as np
import pytest

from conflicts.core.detective import Fact, detect
from conflicts.core.questions import ask_ambiguity
from conflicts.core.wording import word_diff
from engram.kernel.asked_credentials import read_together
from engram.kernel.credentials import credential_in, without_credentials
from memories.core.answers import question_hash
from memories.core.claims import compare, read, why_too_long
from memories.core.content import normalise_quote
from memories.core.objections import objection
from memories.core.quoting import quote_line
from memories.core.text import terms
from predictor.core.features import token_buckets
from predictor.core.offline_judge import JudgedNote, Rarity, judge
from predictor.core.talk import read_talk
from tests.growth import FACTOR, MOST_GROWTH, growth

LONGEST = 8000
# Of words of one letter rules read no more than that many characters.
LONGEST_READ = 3880
MANY = count()
NOW = datetime(2026, 11, 1, tzinfo=UTC)
# Constructions that parsers stumble over; what is read of them differs with their length in words.
PARTS = (
    " ", "\n", ".", "a", "_", "/", "'", "(", "é", "世", "\u200b", "* ", "a ", "1 ", "1, ", "a, ",
    "a: ", "a = ", "a. ", "a.", "1.", "a-", "a_b ", "a/", "no. ", "e.g. ", "\"a\" ", "a\n- b\n",
    "a and ", "a is b, ", "a is b and ", "a is not b. ", "when a, ", "It is 5 m. ", "5 to ",
    "5 MB/kg ", "5mb", "ten Mb/", "per ",
    "at most 5 ", "every 5 minutes ", "moved from a to b ", "Bob's ", "web-1 ",
    "staging production ", "password is ", "the password of ", "token = a",
    "https://a:b", "-----BEGIN ", "user: ",
    "the deadline is 3 May 2026 and ", "Requests expire after 30 days. ",
    "Alice approves invoices of the platform team, ",
)  # fmt: skip


def text_of(part: str, length: int) -> str:
    """A text of a construction that nobody has read before, so that nothing is remembered."""
    number = next(MANY)
    return (part * (length // len(part) + 1))[:length] + f" and number {number} is kept"


def pair_of(part: str, length: int) -> tuple[str, str]:
    return text_of(part, length), text_of(part, length)


def fact(number: int, content: str) -> Fact:
    return Fact(
        id=str(number), lineage=str(number), content=content, scope="ops", project="p", agent="a",
        session_key="", observed_at=NOW - timedelta(days=9 - number), provenance="user_stated",
    )  # fmt: skip


def judged(text: str) -> object:
    note = JudgedNote(text, np.ones((1, 4), np.float32) / 2)
    talk = read_talk(f"User: {text}", [text, f"{text} again"])
    vectors = np.ones((len(talk.pieces), 4), np.float32) / 2
    return judge([note], talk, vectors, Rarity({}, 10))


# Each takes two texts of one construction.
ENTRIES: dict[str, Callable[[str, str], object]] = {
    "read": lambda a, _: read(a),
    "compare": compare,
    "objection": lambda a, b: objection(read(a), read(b)),
    "detect": lambda a, b: detect(
        [fact(0, a), fact(1, b)], np.ones((2, 4), np.float32) / 2, now=NOW
    ),
    "credential_in": lambda a, _: credential_in(a),
    "read_together": lambda a, b: [credential_in(text) for text in read_together(a, b)],
    "question_hash": lambda a, _: question_hash(a),
    "without_credentials": lambda a, _: without_credentials(a),
    "normalised": lambda a, _: normalise_quote(a),
    "terms": lambda a, _: terms(a),
    "token_buckets": lambda a, _: token_buckets(a),
    "judge": lambda a, _: judged(a),
    "quoted_line": lambda a, _: quote_line(a),
    "question": ask_ambiguity,
    "word_diff": word_diff,
}


# Reads and compares like the entries above, several times: texts of words, a third as long.
DEAREST = "detect"


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_takes_time_in_proportion_to_the_text(name: str) -> None:
    entry = ENTRIES[name]
    slow = []
    is_dearest = name == DEAREST
    for part in [part for part in PARTS if len(part) > 3 or not is_dearest]:
        longest = LONGEST_READ if why_too_long(text_of(part, LONGEST)) else LONGEST
        longest //= 3 if is_dearest else 1
        grown = growth(partial(pair_of, part), lambda pair: entry(*pair), longest // FACTOR)
        if grown > MOST_GROWTH:
            slow.append(f"{part!r}: {grown:.0f}")
    assert not slow, f"{FACTOR} times the text takes more than {MOST_GROWTH:.0f} times as long"
