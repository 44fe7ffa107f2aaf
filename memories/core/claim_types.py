"""Data types of a parsed text: terms, claims, and the reading that contains them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from memories.core.measures import Quantity

Modality = Literal["fact", "question", "proposal", "hypothetical", "quote", "history", "plan"]
TransitionKind = Literal["switch", "end", "return", "start"]
Region = Literal["subject", "predicate", "condition", "aside", "apposition"]
TermKind = Literal["word", "name", "quantity", "date", "version", "label"]
VALUE_KINDS: Final = frozenset({"quantity", "date", "version", "label"})


@dataclass(frozen=True, slots=True)
class Term:
    """One word or value of a claim, with its place in the sentence.

    Attributes
    ----------
    key : str
        The comparison key: the concept of a word, the normal form of a value.
    text : str
        As written, except that a word may stand for a phrase ("disabled": "switched off").
    kind : str
        "word", "name" (identifier, proper name, product), or the kind of value.
    region : str
        "subject" before the verb, "predicate" after it, "condition" (if, when, in summer),
        "aside" (reasons, relative clauses, brackets, who brought a change about), "apposition"
        (what a comma adds behind the predicate).
    prep : str
        The preposition before it, "" when none.
    weight : float
        1 for content, 0.4 for light verbs, 0.5 for words that a pronoun
        carries over from the sentence before.
    is_denied : bool
        True inside "not X", "instead of X", "without X", "moved from X".
    is_verb : bool
        True for the main verb of its clause.
    phrase : str
        The words of the text that `text` stands for, "" when it is as written.
    """

    key: str
    text: str
    kind: TermKind
    region: Region
    prep: str
    weight: float
    is_denied: bool = False
    is_verb: bool = False
    quantity: Quantity | None = None
    phrase: str = field(default="", compare=False)

    @property
    def written(self) -> str:
        """The words as they stand in the text, for reasons that people read."""
        return self.phrase or self.text


class UnreadWord(NamedTuple):
    """A word outside of all terms: its key ("all" for "every"), and the word as written."""

    key: str
    written: str


@dataclass(frozen=True, slots=True)
class Transition:
    """A change that the text states: "moved from X to Y" has old X and new Y (stemmed words).

    Kinds: "switch" (from one thing to another), "end" (no longer, retired), "return" (back to,
    reverted), "start" (now, since, introduced).
    """

    kind: TransitionKind
    old: frozenset[str]
    new: frozenset[str]
    text: str


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement (clause or sentence) of a text.

    Besides the fields that callers use, `terms` has the words and values in order,
    `verb` the concept of the main verb ("" when none was found), `agent_prep` the preposition that
    leads to who acts when the sentence is turned round ("by" in the passive, "to" after "belongs"),
    `force` the modal ("must", "may", ""), `is_past` a simple past, `cues` additive and
    restricting words, `operators` quantifiers and exceptions, each with the
    word that it governs (("some", "user"), ("or", "redis"), ("unless", "")), `tense` the tense of
    the main verb where it shows, `unread` the words outside of all terms that may change the
    meaning ("all", "not", "<").
    """

    text: str
    subject: frozenset[str]
    words: frozenset[str]
    identifiers: frozenset[str]
    quantities: tuple[Quantity, ...]
    dates: frozenset[str]
    versions: frozenset[str]
    polarity: bool
    modality: Modality
    transition: Transition | None
    terms: tuple[Term, ...] = ()
    verb: str = ""
    agent_prep: str = ""
    is_past: bool = False
    force: str = ""
    cues: frozenset[str] = frozenset()
    operators: frozenset[tuple[str, str]] = frozenset()
    tense: Literal["past", "present", ""] = ""
    unread: tuple[UnreadWord, ...] = ()
    # Computed once because each comparison needs them: the keys of the terms, and of the topics.
    keys: frozenset[str] = field(init=False, repr=False, compare=False)
    topics: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compute `keys` and `topics`; hold equal sets once, because many claims are kept."""
        object.__setattr__(self, "keys", frozenset([term.key for term in self.terms]))
        object.__setattr__(self, "topics", self.words | self.subject)
        held: dict[frozenset[Any], frozenset[Any]] = {_NOTHING: _NOTHING}
        for name in _SETS:
            found = getattr(self, name)
            object.__setattr__(self, name, held.setdefault(found, found))


_NOTHING: frozenset[Any] = frozenset()
_SETS = (
    "subject", "words", "identifiers", "dates", "versions", "cues", "operators", "keys", "topics"
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reading:
    """A parsed text; `keys` are its words and values of full weight.

    `too_long` says why the rules did not read it (then it has no claims), "" when they did.
    """

    text: str
    claims: tuple[Claim, ...]
    words: frozenset[str]
    keys: frozenset[str] = frozenset()
    too_long: str = ""
