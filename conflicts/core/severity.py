"""Rate the severity of a conflict by the words of its claims: it sorts the cards, and decides
nothing. `severity_by_meaning.py` rates by their sentence vectors, where there are any.

Who claims it does not matter: a limit that only an agent wrote down is acted on like any other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from conflicts.core.facts import Fact, Severity

# What is claimed about these may hurt people, or cost money, data, rights or a deadline.
_GRAVE: Final = re.compile(
    r"\b(?:"
    # security and access
    r"secrets?|passwords?|passphrases?|credentials?|tokens?|(?:api|ssh|private|signing) keys?|"
    r"security|mfa|2fa|pins?|badges?|vaults?|permissions?|privileg\w+|encrypt\w*|certificates?|"
    r"firewalls?|vulnerabilit\w+|root|sudo|ssh|log-?ins?(?! (?:page|screen|form|button)s?\b)|"
    r"authenticat\w+|authori[sz]\w+|audit\w*|"
    r"admin(?:istrator)? rights|"
    # running systems and data
    r"prod(?:uction)?|back-?ups?|restor(?:e|es|ed|ing)|delet\w+|eras(?:e|es|ed|ing|ure)|"
    r"purg(?:e|es|ed)|wip(?:e|es|ed)|incidents?|sev[ -]?[12]|outages?|rollbacks?|failover|"
    # health
    r"medic\w+|dos(?:e|es|age|ages)|\d+(?:[.,]\d+)? ?(?:mg|mcg|µg)|allerg\w+|intoleran\w+|"
    r"diagnos\w+|blood|surger\w+|patients?|vaccin\w+|prescri\w+|pregnan\w+|insulin|inhalers?|"
    r"asthma\w*|diabet\w+|epilep\w+|lactose|gluten|peanuts?|shellfish|antibiotics?|hospitals?|"
    # law and privacy
    r"legal\w*|law|laws|contracts?|liab(?:le|ilit\w+)|gdpr|privacy|consent\w*|lawsuits?|"
    r"leases?|landlords?|tenan(?:ts|cy)|evict\w+|visas?|passports?|licen[cs]es?|custody|notice "
    r"periods?|months['’]? notice|statut\w+|regulat(?:ion|ions|ory)|"
    # money that is owed
    r"tax(?:es)?|vat|payments?|invoic\w+|refunds?|salar(?:y|ies)|payroll|wages?|loans?|debts?|"
    r"mortgages?|transfers? of|wire transfers?|signatures?|insur\w+|penalt(?:y|ies)|budgets?|"
    r"deposits?|pensions?|fines?|"
    # time that is lost for good
    r"deadlines?|"
    # danger
    r"safe|safety|unsafe|danger\w*|hazard\w*|emergenc\w+|alarms?|fire|evacuat\w+|toxic|poison\w*|"
    r"acids?|explosi\w+|kilns?|furnaces?|high voltage|radiation|chlorine|asbestos|"
    r"car seats?|seat ?belts?|helmets?|life ?(?:jackets?|rafts?|boats?|buoys?)|harness(?:es)?|"
    r"brakes?|ladders?|guns?"
    r")\b",
    re.IGNORECASE,
)
# Taste, furnishing and small talk: whoever acts on the wrong claim loses nothing.
_SLIGHT: Final = re.compile(
    r"\b(?:"
    r"favou?rites?|colou?r(?:s|ed)?|mascots?|nicknames?|hobb(?:y|ies)|pets?|cats?|dogs?|"
    r"(?:office|pot(?:ted)?|house) ?plants?|coffee|teas?|snacks?|mugs?|biscuits?|cookies?|"
    r"wallpapers?|posters?|curtains?|decorat\w+|playlists?|(?:dark|light) (?:theme|mode)|themes?|"
    r"fonts?|emojis?|avatars?|headers? of the newsletter|book club|film club|board games?|jokes?|"
    r"t-?shirts?|stickers?|songs?|anthems?|sofas?|couch(?:es)?|cushions?|rugs?|lunch|pizza|"
    r"named after|puns?|logos?"
    r")\b",
    re.IGNORECASE,
)
_LOOKS: Final = re.compile(
    r"\b(?:colou?r(?:s|ed)?|backgrounds?|fonts?|logos?|icons?|themes?)\b", re.IGNORECASE
)


def severity_of(facts: Sequence[Fact]) -> Severity:
    """Return how harmful it would be to act on the wrong one of the claims, by their words.

    "high" where people, money, data, rights or a deadline are at stake, or a constraint; "low"
    where all of them are about taste and furnishing; else "medium".
    """
    return severity_by_words(facts) or "medium"


def severity_by_words(facts: Sequence[Fact]) -> Severity | None:
    """Return the severity that a constraint or a word of the lists tells.

    None without either, and for the looks of something grave: the colour of a logo on invoices.
    """
    if any(fact.kind == "constraint" for fact in facts):
        return "high"
    if any(_GRAVE.search(fact.content) for fact in facts):
        return None if all(_LOOKS.search(fact.content) for fact in facts) else "high"
    is_slight = bool(facts) and all(_SLIGHT.search(fact.content) for fact in facts)
    return "low" if is_slight else None
