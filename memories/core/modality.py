"""Classify a clause as present fact, question, proposal, hypothesis, quote, history or plan."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from memories.core.claim_types import Modality
from memories.core.clauses import Clause
from memories.core.function_words import AUXILIARIES, DETERMINERS, FORMS_OF_BE, PREPOSITIONS
from memories.core.tokeniser import stems
from memories.core.vocabulary import lemma

# Cues of one or more words, tried in this order; a fact has none of them.
_CUES: tuple[tuple[Modality, tuple[str, ...]], ...] = (
    ("question", ("whether", "not sure if", "unclear if", "do we", "should we", "can we")),
    ("hypothetical", ("suppose", "supposing", "hypothetically", "imagine", "assuming", "would have",
                      "if we were")),
    ("quote", ("reportedly", "allegedly", "supposedly", "apparently")),
    ("history", ("previously", "formerly", "originally", "historically", "initially", "back then",
                 "back when", "in the past", "at that time", "at first", "in the old days",
                 "years ago", "in those days")),
    ("proposal", ("maybe", "perhaps", "might", "possibly", "let's", "let us", "we could",
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
_PROPOSING = stems(
    "propose suggest recommend consider float debate discuss evaluate explore wonder"
)
_WANTING = frozenset(["want", "wants", "wanted"])
_REPORTING = frozenset(
    ["said", "says", "claimed", "claims", "argues", "argued", "thinks", "thought", "believes",
     "believed", "mentioned", "guesses", "heard", "told"]
)  # fmt: skip
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
        if tuple(lowers[index : index + len(cue)]) == cue
    ]


def _from_verbs(clause: Clause, lowers: Sequence[str]) -> Modality:
    """Return the modality by verbs and tense, for a clause without a fixed cue."""
    present = frozenset(lowers)
    if _used_to(lowers) or ("until" in present and present & _WAS):
        return "history"
    if present & _REPORTING and _reports(lowers):
        return "quote"
    if "would" in present:
        return "hypothetical"
    main = lowers[clause.verb] if 0 <= clause.verb < len(lowers) else ""
    if lemma(main) in _PROPOSING and not clause.is_passive:
        return "proposal"
    if main in _WANTING and "to" in lowers[clause.verb + 1 :]:  # "they want the crane to lift 16 t"
        return "proposal"
    return "plan" if "will" in present and not present & {"if", "when", "whenever"} else "fact"


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
    """Return True for "Ana says the deadline is Friday", not for "as said" or "all claims"."""
    at = next(index for index, lower in enumerate(lowers) if lower in _REPORTING)
    if at >= len(lowers) - 2 or (at and lowers[at - 1] in _BE | PREPOSITIONS | DETERMINERS):
        return False
    following = lowers[at + 1]
    return following.isalnum() and following not in AUXILIARIES
