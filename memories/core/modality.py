"""Classify a clause as present fact, question, proposal, hypothesis, quote, history or plan."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from memories.core.claim_types import Modality
from memories.core.clauses import Clause, skip_leading_adjunct
from memories.core.function_words import (
    AUXILIARIES,
    DETERMINERS,
    FORMS_OF_BE,
    NEGATORS,
    PREPOSITIONS,
    PRONOUNS,
    words_of,
)
from memories.core.tokeniser import stems
from memories.core.vocabulary import is_plural, lemma

# Cues of one or more words, tried in this order; a fact has none of them.
_CUES: tuple[tuple[Modality, tuple[str, ...]], ...] = (
    ("question", ("whether", "not sure if", "unclear if", "do we", "should we", "can we")),
    ("hypothetical", ("suppose", "supposing", "hypothetically", "imagine", "assuming", "would have",
                      "if we were")),
    ("quote", ("reportedly", "allegedly", "supposedly", "apparently")),
    ("history", ("previously", "formerly", "originally", "historically", "initially", "back then",
                 "back when", "in the past", "at that time", "at first", "in the old days",
                 "years ago", "in those days")),
    ("proposal", ("maybe", "perhaps", "might", "possibly", "we could",
                  "could be", "we should", "want to", "wants to", "would like", "hope to",
                  "hopes to", "how about", "what about", "thinking about", "thinking of", "an idea",
                  "the idea", "proposal to", "could", "we consider", "is considering",
                  "are considering")),
    ("plan", ("plan to", "plans to", "planning to", "planned for", "intend to", "intends to",
              "going to", "about to", "scheduled to", "scheduled for", "upcoming", "soon",
              "someday", "next week", "next month", "next quarter", "next year",
              "next sprint", "next release", "on the roadmap")),
)  # fmt: skip
_CUES_BY_HEAD: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
for _rank, (_, _phrases) in enumerate(_CUES):
    for _phrase in _phrases:
        _cue = tuple(_phrase.split())
        _CUES_BY_HEAD.setdefault(_cue[0], []).append((_rank, _cue))
_LABELS: dict[str, Modality] = {
    "idea": "proposal", "proposal": "proposal", "suggestion": "proposal", "option": "proposal",
    "rfc": "proposal", "question": "question", "plan": "plan", "todo": "plan", "goal": "plan",
    "hypothesis": "hypothetical", "history": "history", "quote": "quote",
}  # fmt: skip
_LETS = re.compile(r"\W{0,3}let(?:['’]s|\sus)\b", re.IGNORECASE)
_PROPOSING = stems(
    "propose suggest recommend consider float debate discuss evaluate explore wonder contemplate"
)
_IDEAS = stems("propose suggest contemplate")  # the others are habits: "evaluates the rule hourly"
_WANTING = stems("want prefer wish")  # somebody "to"
_HOPING = stems("hope wish demand request insist urge fear doubt dream")  # "that"
_ASKING = stems(
    "ask request demand urge beg lobby plead push"
)  # once; "we ask guests to" is a rule
_EXPECTING = stems("expect want")
_REPORTING = frozenset(
    ["said", "says", "claimed", "claims", "argues", "argued", "thinks", "thought", "believes",
     "believed", "mentioned", "guesses", "heard", "told", "complains", "complained"]
)  # fmt: skip
_OUTDATED = words_of("old outdated obsolete former previous earlier last expired early")
_OF_ANY = words_of("a an any you one anyone anybody someone somebody there no nobody all every")
_GOVERNING = 8  # words in which a sentence says whose wish it tells
_WAS = frozenset(["was", "were", "had"])
_PERIODS = frozenset(
    ["spring", "summer", "autumn", "fall", "winter", "week", "month", "quarter", "term", "season",
     "semester", "year"]
)  # fmt: skip
_BE = FORMS_OF_BE - {"being"} | {"get", "gets"}


def modality_of(clause: Clause, sentence: str, opening: Sequence[str]) -> Modality:
    """Return the modality of a clause of a sentence that begins with the words `opening`."""
    if sentence.rstrip("\"') ").endswith("?"):
        return "question"
    if _LETS.match(sentence):
        return "proposal"
    lowers = [token.lower for token in clause.tokens]
    if len(lowers) > 1 and lowers[1] == ":" and lowers[0] in _LABELS:
        return _LABELS[lowers[0]]
    heads = [index for index, lower in enumerate(lowers) if lower in _CUES_BY_HEAD]
    ranks = [rank for index in heads for rank in _cues_at(lowers, index)]
    if ranks:
        return _CUES[min(ranks)][0]
    if not clause.is_passive and _WAS & set(lowers) and _tells_past_period(lowers, opening):
        return "history"
    return _from_verbs(clause, lowers)


def _cues_at(lowers: Sequence[str], index: int) -> list[int]:
    return [
        rank
        for rank, cue in _CUES_BY_HEAD.get(lowers[index], ())
        if tuple(lowers[index : index + len(cue)]) == cue and not _is_of_some(lowers, index)
    ]


def _is_of_some(lowers: Sequence[str], index: int) -> bool:
    """Return True for "members who want to leave": it says of whom a statement is."""
    return index > 0 and lowers[index - 1] == "who" and lemma(lowers[index]) in _WANTING


def _from_verbs(clause: Clause, lowers: Sequence[str]) -> Modality:
    """Return the modality by verbs and tense, for a clause without a fixed cue."""
    present = frozenset(lowers)
    if _names_a_will(lowers) or tuple(lowers[:3]) == _YOU_FIND:
        present -= {"will"}
    is_past = "until" in present and present & _WAS
    if _used_to(lowers) or is_past or _is_from_outdated(lowers):
        return "history"
    if present & _REPORTING and _reports(lowers):
        return "quote"
    if "would" in present:
        return "hypothetical"
    if _is_proposed(clause, lowers) or any(map(_is_wish, *_governed(clause, lowers))):
        return "proposal"
    if "will" in present and "if" in present:
        return "fact" if _is_of_any_case(lowers) else "hypothetical"
    return "plan" if "will" in present and not present & {"when", "whenever"} else "fact"


# "You will find the key in the hall" says where it is.
_YOU_FIND = ("you", "will", "find")


def _names_a_will(lowers: Sequence[str]) -> bool:
    """Return whether every "will" is the noun: "the will of the late owner"."""
    before = [lowers[at - 1] if at else "" for at, word in enumerate(lowers) if word == "will"]
    return bool(before) and all(word in DETERMINERS for word in before)


def _is_proposed(clause: Clause, lowers: Sequence[str]) -> bool:
    """Return True for "suggests" and "was discussed", not for "is discussed every week"."""
    main = lowers[clause.verb] if 0 <= clause.verb < len(lowers) else ""
    is_done = not clause.is_passive or not {"was", "were", "been"}.isdisjoint(lowers)
    return lemma(main) in _PROPOSING and is_done


def _governed(
    clause: Clause, lowers: Sequence[str]
) -> tuple[list[Sequence[str]], list[Sequence[str]]]:
    """Return what stands up to each word that may be the main verb, and behind it."""
    lead = skip_leading_adjunct(clause.tokens)  # "If a caller insists that …, Milan decides"
    near = range(lead + 1, min(len(lowers), lead + _GOVERNING))
    ends = [index + 1 for index in near if _may_govern(lowers, index)]
    if clause.verb > 0:
        ends.append(clause.verb + 1)
    return [lowers[:end] for end in ends], [lowers[end:] for end in ends]


def _may_govern(lowers: Sequence[str], index: int) -> bool:
    """Return whether a word is no noun by those around it: "we considered a", "asking for"."""
    before, lower = lowers[index - 1], lowers[index]
    following = lowers[index + 1] if index + 1 < len(lowers) else ""
    if before in DETERMINERS | PREPOSITIONS or before == "who":
        return False
    is_form = lower.endswith(("s", "ed", "ing")) or before in PRONOUNS or is_plural(before)
    leads_on = following in DETERMINERS | PREPOSITIONS | PRONOUNS or following.endswith("ing")
    return is_form and leads_on


def _is_wish(said: Sequence[str], rest: Sequence[str]) -> bool:
    """Return whether words that end in a verb make a wish or an idea of the rest."""
    verb, base = said[-1], lemma(said[-1])
    is_passive = len(said) > 1 and said[-2] in _BE and not verb.endswith("ing")
    if is_passive:
        return False
    if rest[:1] == ["that"]:
        return base in _PROPOSING | _HOPING
    if base in _PROPOSING:
        is_habit = base not in _IDEAS and not verb.endswith(("ed", "ing"))
        return not is_habit or any(word.endswith("ing") for word in rest[:1])
    if "to" not in rest and "for" not in rest:
        return False
    if base in _WANTING or (base in _EXPECTING and not NEGATORS.isdisjoint(said)):
        return "to" in rest
    return base in _ASKING and verb.endswith(("ed", "ing"))


def _is_of_any_case(lowers: Sequence[str]) -> bool:
    """Return whether a condition may come any day: "if a child is ill", not "if the motion passes".

    Then it is a rule in force.
    """
    at = lowers.index("if") + 1
    subject = lowers[at] if at < len(lowers) else ""
    return subject in _OF_ANY or is_plural(subject)


def _is_from_outdated(lowers: Sequence[str]) -> bool:
    """Return True for "according to an old leaflet"."""
    return lowers[:2] == ["according", "to"] and not _OUTDATED.isdisjoint(lowers[2:5])


def _used_to(lowers: Sequence[str]) -> bool:
    return any(
        lower == "used"
        and lowers[index + 1 : index + 2] == ["to"]
        and (index == 0 or lowers[index - 1] not in _BE | {"never", "not", "only", "also"})
        for index, lower in enumerate(lowers)
    )


def _tells_past_period(lowers: Sequence[str], opening: Sequence[str]) -> bool:
    """Return True for "Last winter, ..." in the sentence's first words, and in the clause."""
    return any(
        before == "last" and period in _PERIODS
        for words in (lowers, opening)
        for before, period in itertools.pairwise(words)
    )


def _reports(lowers: Sequence[str]) -> bool:
    """Return True for "Ana says the deadline is Friday", not for "as said" or "all claims".

    "…, says the warden" names who stands for what is stated, unless it is an old leaflet.
    """
    at = next(index for index, lower in enumerate(lowers) if lower in _REPORTING)
    if at >= len(lowers) - 2 or (at and lowers[at - 1] in _BE | PREPOSITIONS | DETERMINERS):
        return False
    if lowers[at - 1] == "," and at:
        return not _OUTDATED.isdisjoint(lowers[at:])
    following = lowers[at + 1]
    return following.isalnum() and following not in AUXILIARIES
