"""What one side may say more and still state the same claim: a closed list of harmless details.

"Signed with HMAC" holds whatever "signed" holds. "Enabled in staging" does not: whoever keeps it
alone has lost the general claim. A word of which nothing is known may take back what it stands
beside ("the draft policy"), so that only what is listed here refines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from memories.core.cases import HEADINGS, LIMITERS
from memories.core.lexicon import concept_of
from memories.core.statements import Claim, Term
from memories.core.unread import NEGATION
from memories.core.words import stems

# Modifiers of a subject that point to the usual one of its kind.
_IDLE_MODIFIERS: Final = stems("main primary current whole entire official actual team service"
                               " system value rule option parameter process")  # fmt: skip
# Lead to how or by what means a thing is done, or in which form.
_MANNER: Final = frozenset(["with", "by", "as", "through", "via", "into", "using", "from"])
# Behind a comma these add a remark; without one they say when.
_REMARKS: Final = _MANNER | {"after", "before"}
_UNITS_OF_VALUES: Final = frozenset(["", "with", "by", "of", "within"])
# What is allowed "with a ticket" or "by members" is not allowed without.
_CONDITIONAL: Final = frozenset(["with", "by"])
_PERMITTING: Final = stems("allow permit accept admit offer support include cover")
# Words that take back, put off or make uncertain what they stand with, in any form.
_RETRACTING_WORDS: Final = (
    "draft proposed proposal optional option former planned plan possible possibly potential"
    " tentative provisional provisionally preliminary temporary temporarily interim alleged"
    " supposed expected pending future past previous retired obsolete deprecated cancelled revoked"
    " rejected withdrawn expired hypothetical example test trial pilot experiment experimental beta"
    " mock fake dummy sample exception exceptions exempt excluding limitation restriction caveat"
    " partial partly partially except unless until till only other else never no not none without"
    " minus negative rarely seldom sometimes occasionally mostly mainly almost nearly usually"
    " generally often just even below above under over less least most fewer few some many"
    " several half untrue false wrong outdated unconfirmed undecided unclear unsure maybe perhaps"
)
_RETRACTING: Final = stems(_RETRACTING_WORDS) | frozenset(_RETRACTING_WORDS.split())
_CONTRAST: Final = re.compile(
    r"\b(?:but|however|although|though|except|excepting|excluding|unless|yet|otherwise|whereas|"
    r"until|till|since|only|instead|if|when|whenever|while)\b",
    re.IGNORECASE,
)
_BARE_RELATIVE: Final = re.compile(r"[^\s,]\s(?:who|which|whose|that|where)\b", re.IGNORECASE)
_POINTS_BACK: Final = re.compile(
    r"(?:it|this|that|these|those|they|such|so|same|both|all|here|there|he|she)\b", re.IGNORECASE
)


def are_harmless(terms: Sequence[Term], claim: Claim) -> bool:
    """True when all that `claim` says more is known to leave the rest of it as it stands."""
    is_permission = claim.force == "may" or any(
        term.is_verb and term.key in _PERMITTING for term in claim.terms
    )
    if any(term.is_denied or term.is_verb for term in terms):
        return False
    added = {id(term) for term in terms}
    kept = [term for term in claim.terms if id(term) not in added and not term.is_verb]
    # A word within a phrase that both have tells of another thing: "with a backup generator".
    phrases = {(t.region, t.prep) for t in kept if t.prep and t.region != "aside"}
    named = {t.key for t in kept}  # "PostgreSQL" becomes "PostgreSQL 17"
    counted = {concept_of(t.quantity.noun) for t in terms if t.quantity and t.quantity.noun}
    return all(
        term.key in counted
        or (
            (term.quantity is not None or (term.region, term.prep) not in phrases)
            and _is_harmless(term, claim, is_permission=is_permission)
        )
        or (term.kind == "version" and term.key.partition(" ")[0] in named)
        for term in terms
    )


def _is_harmless(term: Term, claim: Claim, *, is_permission: bool) -> bool:
    if term.key in LIMITERS or (term.key in _RETRACTING and term.key != term.prep):
        return False
    if term.region == "subject":
        return term.key in _IDLE_MODIFIERS
    if term.region == "condition" or (is_permission and term.prep in _CONDITIONAL):
        return False
    if term.region == "aside":
        is_heading = term.prep == ":"
        return term.key in HEADINGS if is_heading else _is_aside_remark(claim.text)
    return _is_detail(term)


def _is_aside_remark(text: str) -> bool:
    """False where the aside may limit: in brackets, or a relative clause without its comma."""
    return "(" not in text and not _BARE_RELATIVE.search(text)


def _is_detail(term: Term) -> bool:
    if term.kind == "date":
        return ":" in term.key  # a clock time; a day or a season may leave other days out
    if term.quantity is not None:
        is_open = term.quantity.is_strict or term.quantity.bound == "least"
        return term.prep in _UNITS_OF_VALUES and not is_open
    return term.prep in (_REMARKS if term.region == "apposition" else _MANNER)


def only_remark(claims: Sequence[Claim]) -> bool:
    """True when statements that one text has besides leave its other statements as they are."""
    return all(_is_remark(claim) for claim in claims)


def _is_remark(claim: Claim) -> bool:
    if claim.modality != "fact" or not claim.polarity or NEGATION in claim.unread:
        return False
    if (
        not (claim.verb or claim.tense)
        or claim.transition is not None
        or _POINTS_BACK.match(claim.text)
    ):
        return False
    return not any(
        term.is_denied or term.key in LIMITERS or term.key in _RETRACTING for term in claim.terms
    )


def contrasts(text: str, other: str) -> bool:
    """True when one text limits what it says by a word that the other does not have."""
    return _joints(text) != _joints(other)


def _joints(text: str) -> list[str]:
    return sorted(word.lower() for word in _CONTRAST.findall(text))
