"""Find what is said about a topic that its speaker keeps off the record, in other words, too.

"Leave my home town out of your memory. I live in Sundby.": the second sentence names no home town.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from memories.core.extraction import cues
from memories.core.extraction.lasting import is_lasting
from memories.core.extraction.personal import is_personal, kind_of
from memories.core.extraction.private import private_topic
from memories.core.extraction.statements import Statement
from memories.core.extraction.turns import Turn
from memories.core.function_words import words_of
from memories.core.spelling import bare_words
from memories.core.text import terms
from memories.core.tokeniser import stem
from memories.core.topic_words import names, stems
from memories.core.vocabulary import VERBS, lemma

_THIRD: Final = words_of(
    "it it's its he he's his she she's her they they're their that that's this there"
)
_NEXT: Final = cues.FIRST | _THIRD
_OF_SPEAKER: Final = words_of("i i'm i've i'd i'll me my mine myself")
_VALUES: Final = frozenset(terms("address salary phone birthday"))
_SHORT: Final = 5  # letters of a word that says nothing of its own


def mark_topics(found: Sequence[Statement], turns: Sequence[Turn]) -> tuple[Statement, ...]:
    """Mark as private what is said about a private topic; linear in the number of statements.

    That is what follows the request in its turn and goes on about it, what the speaker says of
    themselves in words of the same kind, and what has a name of either, as an answer may. What is
    asked to be remembered later than the request stays.
    """
    topics = {
        position: topic
        for position, one in enumerate(found)
        if one.kind == "private" and turns[one.turn].role not in {"assistant", "tool"}
        if (topic := private_topic(one.text))
    }
    if not topics:
        return tuple(found)
    marked = _about(found, turns, topics)
    first, last = min(topics), max(topics)
    told = frozenset(name for at in marked for name in names(found[at].text))
    answered = _answers(found, turns, marked, topics)
    for position, one in enumerate(found):
        is_open = one.kind == "prose" and not _stays(one, position, last)
        if is_open and position > first and not told.isdisjoint(stems(one.text)):
            marked.add(position)
    marked |= answered
    return tuple(
        replace(one, kind="private") if position in marked and one.kind == "prose" else one
        for position, one in enumerate(found)
    )


def may_be_about(text: str, request: str) -> bool:
    """Return whether a statement beside a request not to store something may be what is meant.

    It is not where the request names something of a known kind, and the statement has no word of
    it and is of another kind, or is not about "I". Of what is a number or a name, as an address, a
    plain fact without either tells nothing.
    """
    topic = private_topic(request)
    kind = kind_of(topic)
    said = frozenset(terms(text))
    if not kind or not said.isdisjoint(kind | topic):
        return True
    has_value = any(map(str.isdigit, text)) or bool(names(text))
    is_plain = not has_value and is_lasting(text) and not _VALUES.isdisjoint(kind)
    is_other = is_plain or bool(kind_of(said))
    return not is_other and not _OF_SPEAKER.isdisjoint(bare_words(text))


def _about(
    found: Sequence[Statement], turns: Sequence[Turn], topics: dict[int, frozenset[str]]
) -> set[int]:
    marked: set[int] = set()
    kinds: defaultdict[str, set[str]] = defaultdict(set)
    for position, topic in topics.items():
        kind = kind_of(topic)
        kinds[turns[found[position].turn].speaker] |= kind
        marked.update(_following(found, position, kind, topics))
    last = max(topics)
    for position, one in enumerate(found):
        own = kinds.get(turns[one.turn].speaker, set())
        is_open = bool(own) and one.kind == "prose" and not _stays(one, position, last)
        if is_open and is_personal(one.text, own):
            marked.add(position)
    return marked


def _following(
    found: Sequence[Statement], position: int, kind: Collection[str], topics: Collection[int]
) -> list[int]:
    """Return the statements behind a request in its turn that go on about its topic.

    Between them may stand what is private for another reason, as what names the topic is.
    """
    meant: list[int] = []
    is_begun = False
    for at in range(position + 1, len(found)):
        one = found[at]
        if one.turn != found[position].turn or at in topics:
            break
        if one.kind == "private":
            is_begun = True
            continue
        if one.kind != "prose" or one.asks_to_remember:
            break
        words = bare_words(one.text)
        is_next = bool(words) and words[0] in (_THIRD if is_begun else _NEXT)
        if not is_next or (_is_general(words) and terms(one.text).keys().isdisjoint(kind)):
            break
        is_begun = True
        meant.append(at)
    return meant


def _answers(
    found: Sequence[Statement], turns: Sequence[Turn], marked: set[int], topics: Collection[int]
) -> set[int]:
    """Return what an assistant answers in the next turn with a word of what was marked.

    Of the request itself, which says more than what is private, only numbers tell it.
    """
    told: defaultdict[int, set[str]] = defaultdict(set)
    for at in topics:
        told[found[at].turn + 1].update(filter(_is_number, terms(found[at].text)))
    for at in marked:
        told[found[at].turn + 1].update(filter(_is_telling, terms(found[at].text)))
    return {
        position
        for position, one in enumerate(found)
        if turns[one.turn].role == "assistant" and not told[one.turn].isdisjoint(terms(one.text))
    }


def _is_number(word: str) -> bool:
    return len(word) > 1 and word.isdigit()


def _is_telling(word: str) -> bool:
    return _is_number(word) or (len(word) > _SHORT and lemma(word) not in VERBS)


def _stays(one: Statement, position: int, last: int) -> bool:
    """Return whether a statement is asked to be remembered after the last private request."""
    return position > last and one.asks_to_remember


def _is_general(words: Sequence[str]) -> bool:
    """Return whether words tell what always holds, or is wanted."""
    return not cues.UNIVERSAL.isdisjoint(words) or not cues.WANTING.isdisjoint(map(stem, words))
