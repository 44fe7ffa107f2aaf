"""List the function words of English by kind: determiners, pronouns, prepositions and so on.

These are closed classes; no word is here because of one text.
"""

from __future__ import annotations


def words_of(text: str) -> frozenset[str]:
    """Return the words of a blank-separated list."""
    return frozenset(text.split())


DETERMINERS = words_of(
    "a an the this that these those our my your his her its their every each any some all both"
    " no another such which whose what either neither"
)
PRONOUNS = words_of(
    "i we you he she it they me us him them who whom one ones someone somebody everyone"
    " everybody anyone anybody people itself themselves ourselves there nobody nothing none"
    " something anything everything myself himself herself yourself"
)
AUXILIARIES = words_of(
    "is are was were be been being am has have had having do does did will would shall should"
    " can could may might must need needs ought gets get got"
)
PREPOSITIONS = words_of(
    "of in on at for by with from to into onto via through over under above below between within"
    " without before after during since until till per as than against about around across along"
    " behind beside near inside outside towards toward upon off instead except besides despite"
    " like unlike out up down back"
)
# Prepositions that change the meaning; "in", "on", "at", "of" often do not.
MEANINGFUL_PREPOSITIONS = words_of(
    "off out up down under over behind before after above below outside without against until since"
    " except near like unlike than toward towards about"
)
# Prepositions that give a direction or an order.
DIRECTED = words_of("from to into onto before after above below over under than instead")
OPPOSED_PREPOSITIONS = {
    "before": "after", "after": "before", "above": "below", "below": "above", "inside": "outside",
    "outside": "inside", "over": "under", "under": "over", "up": "down", "down": "up",
    "since": "until", "until": "since", "into": "out", "out": "into", "on": "off", "off": "on",
}  # fmt: skip
CONJUNCTIONS = words_of(
    "and or but nor so yet because although though while whereas if when unless"
)
# Words without content.
FILLERS = words_of(
    "very really quite simply actually basically currently now today here"
    " also too already still then thus therefore hence however please note well as so such"
    " own itself again else nowhere rather fairly pretty always ever e.g i.e etc vs yes okay ok"
    " o'clock nowadays overall entirely completely fully directly properly explicitly officially"
    " throughout altogether"
) | words_of("that this these those which who whom whose what there here where how")
# Adverbs that restrict or widen a claim; `same` requires them on both sides.
RESTRICTORS = words_of("only solely exclusively except unless partly partially mostly mainly"
                     " sometimes occasionally often rarely seldom almost nearly temporarily"
                     " provisionally half just even usually generally")  # fmt: skip
ADDITIVES = words_of("also too additionally besides another both along plus alongside furthermore")
# Quantifiers and conditions of a statement.
OPERATORS = words_of("unless except some several most many few half or either neither")
EXCLUSIVES = words_of("only solely exclusively just sole")
NEGATORS = words_of("not never no none nobody nothing neither nor")
# All words without content of their own.
FUNCTION_WORDS = (
    AUXILIARIES | CONJUNCTIONS | DETERMINERS | FILLERS | NEGATORS | PREPOSITIONS | PRONOUNS
)
FORMS_OF_BE = words_of("is are was were be been being")
# May refer to the sentence before.
POINTERS = words_of("it they this that these those he she its")
