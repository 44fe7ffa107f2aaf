"""The state of the parser that reads a clause into terms."""

from __future__ import annotations

from dataclasses import dataclass, field

from memories.core.claim_types import Region, Term, TermKind
from memories.core.clauses import Clause
from memories.core.function_words import MEANINGFUL_PREPOSITIONS
from memories.core.measures import Quantity
from memories.core.transitions import TransitionSpan

LIGHT_WEIGHT = 0.4  # of light verbs


@dataclass
class Scan:
    """The terms read so far, and the context of the next one."""

    clause: Clause
    change: TransitionSpan | None
    region: Region
    prep: str = ""
    denied: bool = False
    negations: int = 0
    is_universal: bool = False  # "for every route" limits nothing
    is_reversed: bool = False  # a verb such as "avoid" that negates by itself
    agent_prep: str = ""
    terms: list[Term] = field(default_factory=list)
    led: bool = True  # whether a term followed the last preposition
    suffix: str | None = None  # unit in a setting's name ("timeout_ms")
    held: set[int] = field(default_factory=set)  # indices of tokens in terms

    def add(
        self, key: str, text: str, kind: TermKind, weight: float = 1.0,
        quantity: Quantity | None = None, *, at: int, is_verb: bool = False, phrase: str = "",
    ) -> None:  # fmt: skip
        self.led = True
        self.held.add(at)
        self._append(key, text, kind, weight, quantity, at=at, is_verb=is_verb, phrase=phrase)

    def _append(
        self, key: str, text: str, kind: TermKind, weight: float = 1.0,
        quantity: Quantity | None = None, *, at: int, is_verb: bool = False, phrase: str = "",
    ) -> None:  # fmt: skip
        denied = self.denied or self.prep == "without"
        if self.change is not None and self.change.kind in ("switch", "return"):
            is_range = quantity is not None and quantity.upper is not None  # "from two to five"
            denied = denied or (at in self.change.old and not is_range)
        token = self.clause.tokens[at] if at < len(self.clause.tokens) else None
        if not phrase and token is not None and token.text == text:
            phrase = token.written
        self.terms.append(
            Term(key, text, kind, self.region, self.prep, weight, denied, is_verb, quantity, phrase)
        )

    def lead_by(self, prep: str, at: int) -> None:
        """Set the preposition ("": none); a meaningful one without a word becomes a term itself."""
        if not self.led and (self.prep in MEANINGFUL_PREPOSITIONS or self.prep in ("from", "to")):
            self._append(self.prep, self.prep, "word", at=at)
        self.prep, self.led, self.is_universal = prep, not prep, False
