"""Keys of attributes, the same for a noun and the verb that it is made of: "author", "wrote"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memories.core.function_words import words_of
from memories.core.lexicon import concept_of
from memories.core.slot_types import PLACE
from memories.core.slot_words import ARTICLES, LINKS
from memories.core.tokeniser import stem, stems

# Words beside the noun of an attribute that do not make it another one.
IDLE: Final = words_of("head current official present name city place main sole regular usual")
# What one agent does: who founds, makes, writes, owns or leads.
BY: Final = stems(
    "founded directed composed designed written published owned manufactured developed"
    " discovered coached edited employed built invented painted led managed chaired"
    " headed authored created produced established performed recorded commissioned"
    " sculpted drawn sung broadcast approved captained represented released won refereed"
)
# What happens to a thing once: who founded it, when it was enacted.
ONCE: Final = BY - stems(
    "owned employed led managed chaired headed coached captained represented edited won refereed"
    " recorded performed broadcast drawn sung"
) | stems(
    "launched enacted opened completed introduced incorporated inaugurated ratified abolished"
    " dissolved patented premiered passed unveiled consecrated chartered"
)
_BASES: Final = {"written": "write", "built": "build", "led": "lead", "drawn": "draw",
                 "sung": "sing", "won": "win"}  # fmt: skip
_ONE_VERB: Final = {"head": "lead"}  # two verbs that say the same of a group
PAST: Final = {"wrote": "written", "writes": "written", "drew": "drawn", "sang": "sung",
               "builds": "built", "leads": "led"}  # fmt: skip
# Nouns that say what such a verb says: "author" is who writes.
_NOUNS: Final = {
    "author": "by write", "writer": "by write", "architect": "by design", "birthplace": "birth",
    "home": "residence", "citizen": "citizenship", "wife": "spouse", "husband": "spouse",
    "coach": "by coach", "ceo": "chief execut", "owner": "by own", "chair": "by chair",
    "chairperson": "by chair", "chairman": "by chair", "chairwoman": "by chair",
    "publication": stem("published"), "foundation": stem("founded"), "opening": "open",
    "subsidiary": "by own", "release": "version", "location": PLACE, "job": "profession",
    "occupation": "profession", "vendor": "supplier", "physician": "doctor",
    "captain": "by captain", "head": "by lead", "leader": "by lead",
    "builder": "by build", "venue": PLACE, "license": "licence", "seating": "capacity",
    "burial": "grave", "winner": "by win",
}  # fmt: skip
_PHRASES: Final = {  # what else a noun is called
    "native language": "mother tongue|first language|native speaker",
    "headquarters": "head office|headquarters location",
    "grave": "burial place|place burial|resting place",
    "owner": "owning team|parent company",
    "publication": "first publication|first edition",
    "address": "ip address",
    "manager": "boss|line manager",
    "doctor": "attending physician",
    "database": "primary database|main database|data store",
    "location": "storage place|storage location",
    "stadium": "home ground|home stadium",
    "extension": "phone extension",
    "citizenship": "country citizenship",
    "family": "taxonomic family",
    "capacity": "maximum capacity|seating capacity",
    "captain": "team captain|club captain",
    "version": "installed version|deployed version",
    "plate": "registration plate|number plate|licence plate|registration number",
    "origin": "country origin|place origin|region origin",
}
_NOUN_OF: Final = {phrase: noun for noun, all_ in _PHRASES.items() for phrase in all_.split("|")}
TIMES: Final = words_of("year date")
# Words of a description that another one may fill at the same time, or next week.
ONE_OF_MANY: Final = words_of(
    "next last latest first today's tomorrow's yesterday's deputy acting interim former previous"
    " best second other backup"
)
_OF_MANY_AT_ONCE: Final = words_of(
    "reason cause purpose argument option example problem issue topic goal requirement condition"
    " ingredient friend colleague daughter son brother sister child cousin member"
)
COUNT_OF: Final = "number "  # how the key of a count begins: "floor count", "has six floors"
_BOUNDS: Final = words_of("minimum maximum")
_AMOUNTS: Final = words_of("value amount")  # "minimum order value"
_MAX_WORDS: Final = 5  # of an attribute


def base_of(word: str) -> str:
    """Return the key of a verb of one agent: "wrote" and "written" are "write"."""
    participle = PAST.get(word, word)
    base = _BASES.get(participle, stem(participle))
    return _ONE_VERB.get(base, base)


def attribute_of(words: Sequence[str]) -> str:
    """Return the key of an attribute, the same for a noun and the verb it is made of.

    "" for what several may be at once, or one after the other: "the next speaker".
    """
    lowers = [word.lower() for word in words if word.lower() not in {*LINKS, *ARTICLES}]
    if not lowers or len(lowers) > _MAX_WORDS or not all(map(str.isalpha, lowers)):
        return ""
    lowers = _NOUN_OF.get(" ".join(lowers), " ".join(lowers)).split()
    if lowers[-1] in _AMOUNTS and lowers[0] in _BOUNDS:
        lowers = lowers[:-1]
    if lowers[-1] == "count" and len(lowers) > 1:  # "floor count"
        lowers = ["number", *lowers[:-1]]
    if lowers[0] in TIMES and len(lowers) > 1:  # "year of first publication"
        lowers = [word for word in lowers[1:] if word != "first"] or lowers
        if lowers == ["release"]:  # that of an album; a program's is a version
            return stem("release")
    if not ONE_OF_MANY.isdisjoint(lowers) or lowers[-1] in _OF_MANY_AT_ONCE:
        return ""
    if lowers[-1] in TIMES and len(lowers) > 1:  # "planned release date"
        narrower = [word for word in lowers[:-2] if word not in IDLE]
        return " ".join([*map(concept_of, narrower), stem(lowers[-2])])
    if lowers[-1] == "officer":  # "chief executive"
        lowers = lowers[:-1] or lowers
    kept = [word for word in lowers[:-1] if word not in IDLE] + lowers[-1:]
    return " ".join(map(concept_of, kept)) if len(kept) > 1 else _key_of(kept[0])


def _key_of(noun: str) -> str:
    """Return the key of an attribute of one noun, that of its verb where it names an agent."""
    if noun in _NOUNS:
        return _NOUNS[noun]
    if noun.endswith(("er", "or")):
        verbs = [stem(noun[:-2]), stem(noun[:-1])]  # "employer", "composer"
        return next((f"by {verb}" for verb in verbs if verb in BY), noun)
    return stem(noun) if stem(noun) in ONCE else noun  # "completion", "was completed"
