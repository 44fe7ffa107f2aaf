"""Split sentences into clauses and find their main verbs: a shallow parse without a model.

The verb is second in an English clause; auxiliaries, endings and the word before identify it.
Where no verb is found, the rules use word order only where that is safe.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from memories.core.function_words import (
    AUXILIARIES,
    DETERMINERS,
    FORMS_OF_BE,
    PREPOSITIONS,
    PRONOUNS,
)
from memories.core.number_words import NUMBER_WORDS
from memories.core.tokeniser import Token, stems
from memories.core.vocabulary import (
    IRREGULAR_PAST,
    VERBS,
    is_noun_of_verb,
    is_verb_form,
    lemma,
    phrase_at,
)

_RELATIVES = frozenset(["which", "who", "whom", "whose", "where"])
_SUBORDINATORS = frozenset(
    ["if", "when", "unless", "while", "because", "since", "after", "before", "until", "once",
     "although", "though", "whereas", "as", "so", "till", "whenever", "that"]
)  # fmt: skip
_BE = FORMS_OF_BE | {"get", "gets", "got"}
_CLAUSE_OPENERS = frozenset(["if", "when", "unless", "because", "whenever", "although", "that"])
_ADJUNCT_OPENERS = frozenset(
    ["in", "on", "at", "during", "for", "since", "after", "before", "by", "from", "until", "with",
     "within", "under", "when", "if", "as", "over", "throughout", "because", "according"]
)  # fmt: skip
_CONTAINING = stems("include exclude contain omit cover list show skip hold count lack")
_OF_PLACES = stems("stand hang lie sit live rest lean wait")  # verbs of where something is
_BREAKS = frozenset(["but", "whereas", "while", "so", "yet"])
_ADVERBS = frozenset(
    ["not", "never", "always", "also", "only", "now", "still", "already", "currently", "no",
     "usually", "often", "sometimes", "rarely", "just", "then", "again", "solely", "automatically"]
)  # fmt: skip
# Nouns that are also verbs and may have an identifying number: "Order 7712 ships". A short number
# is an amount: "Order 20 chairs".
_NUMBERED_NOUNS = frozenset(["order", "ticket", "issue", "case", "batch", "run", "build"])
_NUMBER_OF_ONE = 3  # digits

_NEVER_OPENS = (
    _RELATIVES | _SUBORDINATORS | _BREAKS | PREPOSITIONS | {"and", "or", "not", "never", "no"}
)


@dataclass(frozen=True, slots=True)
class Clause:
    """A stretch of tokens with its main verb.

    `aux` and `verb` are token indices, -1 when there is none; `is_imperative` also covers notes
    without a subject ("Moved the site to npm").
    """

    tokens: tuple[Token, ...]
    aux: int
    verb: int
    is_imperative: bool
    is_passive: bool

    def agent_is_theme(self) -> bool:
        """Return whether the subject undergoes the action: in the passive, or without a verb."""
        return self.is_passive or self.verb < 0 or self.verb == self.aux


def fold_phrases(tokens: Sequence[Token]) -> list[Token]:
    """Replace known phrases by the word they stand for ("pull request", "have to")."""
    lowers = [token.lower for token in tokens]
    folded: list[Token] = []
    index = 0
    while index < len(tokens):
        found = phrase_at(lowers, index)
        if found is None:
            folded.append(tokens[index])
            index += 1
            continue
        length, words = found
        folded.extend(_stand_for(tokens[index : index + length], words))
        index += length
    return folded


def _stand_for(phrase: Sequence[Token], words: Sequence[str]) -> Iterator[Token]:
    """Yield the words that stand for a phrase, each with what is written in its place."""
    start, end = phrase[0].start, phrase[-1].end
    texts = [token.written or token.text for token in phrase]
    written = texts if len(texts) == len(words) else [" ".join(texts)]
    for word, text in zip_longest(words, written[: len(words)], fillvalue=""):
        yield Token(word, word, "word", start, end, written=text)


def split(tokens: Sequence[Token]) -> list[Clause]:
    """Return the clauses of one sentence, in order."""
    pieces: list[list[Token]] = [[]]
    for index, token in enumerate(tokens):
        if _breaks(tokens, index, pieces[-1]):
            pieces.append([])
            if token.kind == "symbol" or token.lower in ("and", "but", "so", "yet"):
                continue
        pieces[-1].append(token)
    return [parse(piece) for piece in pieces if any(token.kind != "symbol" for token in piece)]


def _breaks(tokens: Sequence[Token], index: int, before: list[Token]) -> bool:
    """Return whether a new clause with its own verb starts at this token."""
    token = tokens[index]
    is_comma = token.text == "," or _is_dash(tokens, index)
    if not (is_comma or token.lower == "and" or token.lower in _BREAKS) or len(before) < 2:
        return False
    if before[0].lower in _SUBORDINATORS and token.text == ",":
        return False
    after = _until_break(tokens, index + 1)
    if not after or after[0].lower in _NEVER_OPENS or finite_verb(before)[1] < 0:
        return False
    aux, verb, imperative = finite_verb(after)
    return verb > 0 and not imperative and aux != 0


def _is_dash(tokens: Sequence[Token], index: int) -> bool:
    token = tokens[index]
    return token.text in ("\u2014", "\u2013") or (
        token.text == "-"
        and 0 < index < len(tokens) - 1
        and tokens[index - 1].end < token.start < token.end < tokens[index + 1].start
    )


def _until_break(tokens: Sequence[Token], start: int) -> list[Token]:
    end = start
    while end < len(tokens) and tokens[end].text not in (",", "\u2014", "\u2013", ";"):
        end += 1
    return list(tokens[start:end])


def parse(tokens: Sequence[Token]) -> Clause:
    """Find the main verb and the voice of one clause."""
    aux, verb, imperative = finite_verb(tokens)
    is_passive = (
        verb > aux >= 0
        and is_participle(tokens[verb].lower)
        and (tokens[aux].lower in _BE or any(t.lower in _BE for t in tokens[aux:verb]))
    )
    return Clause(tuple(tokens), aux, verb, imperative, is_passive)


def is_participle(lower: str) -> bool:
    """Return whether a lower-case word has the form of a past participle."""
    return lower.endswith("ed") or lower.endswith("en") or lower in IRREGULAR_PAST


def finite_verb(tokens: Sequence[Token]) -> tuple[int, int, bool]:
    """Return indices of first auxiliary and main verb (-1: none), and if it has no subject."""
    start = skip_leading_adjunct(tokens)
    limit = len(tokens)
    for index in range(start + 1, len(tokens)):
        if tokens[index].lower in _RELATIVES or tokens[index].lower in _CLAUSE_OPENERS:
            limit = index
            break
    candidates: list[int] = []
    for index in range(start, limit):
        token = tokens[index]
        if token.text in (":", "=") and not any(
            candidate > start and _verb_score(tokens, candidate, start) >= 2
            for candidate in candidates
        ):
            return _after_colon(tokens, index)
        if token.text == "," and candidates:
            break
        if token.kind != "word":
            continue
        if _is_auxiliary(tokens, index):
            if candidates and _verb_score(tokens, candidates[0], start) >= 3:
                break
            return index, _main_verb(tokens, index, limit), index == start
        if (
            lemma(token.lower) in VERBS
            and _may_be_verb(tokens, index, start)
            and (not _is_acronym(tokens, index))
        ):
            candidates.append(index)
    return _choose(tokens, candidates, start)


def _after_colon(tokens: Sequence[Token], colon: int) -> tuple[int, int, bool]:
    """Take a colon or equals sign as the verb ("TTL: 5 min"), unless a clause follows it."""
    aux, verb, imperative = finite_verb(tokens[colon + 1 :])
    if verb > 0 and not imperative:
        return (aux + colon + 1 if aux >= 0 else -1), verb + colon + 1, False
    return -1, colon, False


def _choose(tokens: Sequence[Token], candidates: list[int], start: int) -> tuple[int, int, bool]:
    if not candidates:
        return -1, -1, False
    if len(candidates) > 1 and candidates[0] == start and not is_verb_form(tokens[start].lower):
        candidates = candidates[1:]
    best = max(candidates, key=lambda index: (_verb_score(tokens, index, start), -index))
    if candidates[0] == start and (best == start or _verb_score(tokens, best, start) < 2):
        return -1, start, True
    if candidates[0] == start and _opens_object(tokens, start):
        return -1, start, True
    return -1, best, False


def skip_leading_adjunct(tokens: Sequence[Token]) -> int:
    """Return the index after a leading "In January," or "When the queue grows," phrase."""
    if not tokens or not _opens_adjunct(tokens):
        return 0
    may_hold_verb = tokens[0].lower in _SUBORDINATORS
    for index, token in enumerate(tokens[:25]):
        if token.text in (",", ":") and index + 1 < len(tokens):
            return index + 1
        if token.lower in _BE and not may_hold_verb:
            break
    if tokens[0].lower not in _ADJUNCT_OPENERS:
        return 0
    for index in range(2, min(len(tokens), 8)):
        opens_phrase = tokens[index].lower in DETERMINERS | PRONOUNS
        if opens_phrase and tokens[index - 1].lower not in PREPOSITIONS:
            return index
    return 0


def _opens_adjunct(tokens: Sequence[Token]) -> bool:
    first, second = tokens[0].lower, tokens[1] if len(tokens) > 1 else tokens[0]
    is_amount = first == "over" and (second.kind != "word" or second.lower in NUMBER_WORDS)
    return (first in PREPOSITIONS | _SUBORDINATORS and not is_amount) or opens_with_source(tokens)


def opens_with_source(tokens: Sequence[Token]) -> bool:
    """Return whether a clause begins with what it is due to: "thanks to Ana", "according to Ana".

    The former is read as "because" of them.
    """
    first = tokens[0]
    is_thanks = first.written.lower().startswith("thanks")
    is_said = first.lower == "according" and len(tokens) > 1 and tokens[1].lower == "to"
    return is_thanks or is_said


def is_inverted(clause: Clause) -> bool:
    """Return whether the subject stands behind the verb: "behind the shed stand the ladders"."""
    tokens, at = clause.tokens, max(clause.verb, clause.aux)
    if clause.is_imperative or not 1 < at < len(tokens) - 1 or skip_leading_adjunct(tokens):
        return False
    lowers = [token.lower for token in tokens[:at]]
    if lowers[0] not in PREPOSITIONS | {"opposite"} and lowers[:2] != ["next", "to"]:
        return False
    is_placed = lemma(tokens[at].lower) in _OF_PLACES or tokens[at].lower in FORMS_OF_BE
    return is_placed and tokens[at + 1].lower in DETERMINERS and "," not in lowers


def _is_auxiliary(tokens: Sequence[Token], index: int) -> bool:
    lower = tokens[index].lower
    if lower not in AUXILIARIES:
        return False
    if lower in ("need", "needs", "get", "gets", "got"):
        return index + 1 < len(tokens) and tokens[index + 1].lower in ("not", "be")
    if lower == "may":
        return tokens[index].text != "May" or index == 0
    if lower in ("will", "might", "must", "can"):
        return index == 0 or tokens[index - 1].lower not in DETERMINERS
    return True


def _main_verb(tokens: Sequence[Token], aux: int, limit: int) -> int:
    """Return the verb that follows an auxiliary; the auxiliary itself when none does."""
    fallback = aux
    for index in range(aux + 1, min(limit, aux + 6)):
        token = tokens[index]
        if token.lower in ("have", "do", "get", "need"):
            fallback = index  # "does not have", "must do"
        if token.lower in AUXILIARIES or token.lower in _ADVERBS or token.lower.endswith("ly"):
            continue
        follows_be = tokens[index - 1].lower in _BE or tokens[aux].lower in _BE
        is_verbal = (
            is_participle(token.lower) or token.lower.endswith("ing")
            if follows_be
            else not token.lower.endswith("s") or token.lower.endswith("ss")
        )
        if token.kind == "word" and lemma(token.lower) in VERBS and is_verbal:
            return index
        if token.kind == "word" and len(token.text) > 4 and token.lower.endswith(("ed", "ing")):
            return index
        break
    return fallback


def _is_acronym(tokens: Sequence[Token], index: int) -> bool:
    """Return whether a word of capitals is among small letters: "POST /files" has no verb."""
    if len(tokens[index].text) < 2 or not tokens[index].text.isupper():
        return False
    return not all(token.text.isupper() for token in tokens if token.kind == "word")


def _may_be_verb(tokens: Sequence[Token], index: int, start: int) -> bool:
    lower = tokens[index].lower
    if lower.endswith("ing") or is_noun_of_verb(lower):
        return False
    if index == start:
        return True
    before = tokens[index - 1]
    if before.lower in DETERMINERS or before.lower in PREPOSITIONS:
        return False
    if before.is_possessive and not is_participle(lower):  # "Bob's changes", but "Bob's left"
        return False
    if before.kind == "number" or before.lower in NUMBER_WORDS:
        # "patient 7 takes", "gate seven opens", but not "in 3 steps"
        named = tokens[index - 2] if index - 2 >= start else None
        return (
            named is not None
            and named.kind == "word"
            and named.lower not in PREPOSITIONS | DETERMINERS
            and lower.endswith("s")
        )
    after = tokens[index + 1].lower if index + 1 < len(tokens) else ""
    return after not in AUXILIARIES


def _verb_score(tokens: Sequence[Token], index: int, start: int) -> int:
    """Score a candidate for the finite verb by the next word, agreement and ending."""
    if _opens_contents(tokens, index, start):
        return 4
    lower = tokens[index].lower
    before = tokens[index - 1].lower if index > start else ""
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    score = 0
    if before in PRONOUNS or before in _ADVERBS:
        score += 4
    if after is not None and after.lower in NUMBER_WORDS:
        score += 2
    elif after is None or after.kind in ("number", "iso", "clock", "symbol"):
        score += 1 if after is None or after.kind == "symbol" else 2
    elif (
        after.lower in _CLAUSE_OPENERS
        or after.lower in DETERMINERS
        or after.lower in PREPOSITIONS
        or after.lower in PRONOUNS
    ):
        score += 2
    elif lemma(after.lower) in VERBS and after.lower[-1:] in ("s", "d"):
        score -= 1
    if lower.endswith("ed") or lower in IRREGULAR_PAST:
        return score + 1
    if index > start + 1 and _is_object(tokens, index):
        score -= 2
    if index > start:
        is_third_person = lower.endswith("s") and not lower.endswith("ss")
        is_plural = before.endswith("s") and before.isalpha()
        score += 1 if is_third_person != is_plural else -1
    return score


def _opens_contents(tokens: Sequence[Token], index: int, start: int) -> bool:
    """Return True for "the export includes deleted rows", where the participle is of the rows."""
    lower = tokens[index].lower
    if index == start or not lower.endswith("s") or lemma(lower) not in _CONTAINING:
        return False
    following = tokens[index + 1 : index + 3]
    return len(following) > 1 and following[0].lower.endswith("ed") and following[1].kind == "word"


def _is_object(tokens: Sequence[Token], index: int) -> bool:
    """Return True for the plural behind a plural and its verb: "requests require reviews"."""
    before, subject = tokens[index - 1].lower, tokens[index - 2].lower
    is_verb_before = lemma(before) in VERBS and not before.endswith("s") and subject.endswith("s")
    return is_verb_before and tokens[index].lower.endswith("s")


def _is_numbered(tokens: Sequence[Token], start: int) -> bool:
    """Return True for a numbered noun before a verb: "Order 7712 ships", not "Order 20 chairs"."""
    if len(tokens) < start + 4 or tokens[start].lower not in _NUMBERED_NOUNS:
        return False
    number, verb, after = tokens[start + 1 : start + 4]
    is_long = number.text.isdigit() and len(number.text) >= _NUMBER_OF_ONE
    is_third_person = (
        verb.kind == "word" and verb.lower.endswith("s") and lemma(verb.lower) in VERBS
    )
    is_led_on = after.kind == "number" or after.lower in PREPOSITIONS | DETERMINERS
    return is_long and is_third_person and is_led_on


def _opens_object(tokens: Sequence[Token], start: int) -> bool:
    """Return whether an initial base form is followed by its object ("Run the migration")."""
    if tokens[start].lower.endswith("s"):
        return False
    if start + 1 >= len(tokens):
        return True
    token = tokens[start + 1]
    if _is_numbered(tokens, start):
        return False
    return (
        token.lower in DETERMINERS
        or (token.lower in PREPOSITIONS and token.lower != "of")
        or token.lower.endswith("s")
        or token.lower in ("not", "never")
        or token.kind != "word"
    )
