"""Read a question and its answer as one text, to find a secret that neither shows by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engram.kernel.credentials import LABELS
from engram.kernel.readable import readable

_OF = r"of|for|to|in|on|at|with|by|about|from|per|de|del|du|für|von|zum|zur|der|des|voor|van"
_VERB = (
    r"is|was|are|does|do|did|has|have|had|should|must|can|could|will|would|may|opens?|unlocks?|"
    r"ist|war|hat|gilt|est|es"
)
# A word before the name of the secret. After "of" it would be another thing: its length, its owner.
_WORD = rf"(?:(?!(?:{_OF})\s)[\w./'\u2019-]{{1,40}}\s{{1,3}})"
# Words after the name of the secret that say when it holds, or who uses it. After nouns like
# "policy" the question would be about another thing.
_SINCE = (
    r"now|nowadays|today|tonight|currently|presently|right now|these days|this|last|next|again|"
    r"still|anyway|exactly|please|instead|since|until|till|before|after|during|under|within|inside|"
    r"behind|as|while|when|if|once|that|which|the|our|your|my|we|you|they|i|he|she|one|people|"
    r"every(?:one|body)|jetzt|heute|nun|aktuell|derzeit|seit|nach|vor|wir|man|die|das|den|"
    r"maintenant|depuis|apr[e\u00e8]s|actuellement|que|ahora|hoy|desde|despu[e\u00e9]s"
)
_BECAME = (
    r"(?:changed|rotated|updated|switched|(?:re)?set)(?: back)?\s{1,3}to\b|"
    r"(?:used|needed|required)\s{1,3}(?:by|in|on|at|for|to)\s{1,3}\w"
)
_OTHER = (  # first words of questions that ask for something else than the secret
    r"what|which|who|whom|whose|where|when|why|how|is|are|was|were|does|do|did|can|could|has|have|"
    r"had|should|may|must|will|would|if|wer|wem|wen|wo|wann|warum|wie|welche[rs]?|hat|ist|kann|"
    r"darf|muss|soll|qui|o[uù]|quand|comment|pourquoi|quel(?:le)?|qui[eé]n|d[oó]nde|cu[aá]ndo|"
    r"c[oó]mo|qual|quem|onde|chi|dove|come|wat|hoe|waar"
)
_SECRET = (
    rf"(?<![A-Za-z0-9])(?P<label>{LABELS}|pass[ -]phrase|(?:seed|recovery) phrase|"
    r"(?-i:PIN)(?: code)?|(?P<both>(?:login )?credentials|login data|zugangsdaten|anmeldedaten))"
)
_ASKED = re.compile(
    r"(?:"
    # "What is the root password ...", "Wie lautet das Passwort ..."
    r"\b(?:what|which|wie|was|wat|quel(?:le)?|qual|cu[aá]l)"
    r"(?:['\u2019]?s|\s{1,3}(?:is|was|are|were|lautet|ist|war|est|es|é))\s{1,3}" + _WORD + r"{0,6}?"
    # "With which password does ..."; not "What protects the password ..."
    r"|\b(?:what|which|welche[rsmn]?|quel(?:le)?|qual|qu[eé])\s{1,3}"
    r"(?:(?!(?:the|an?|our|your|das|den|le|la)\s)" + _WORD + r"){0,2}?"
    # "Root password of staging?"
    rf"|^\W{{0,3}}(?!(?:{_OTHER})\b)" + _WORD + r"{0,6}?"
    r")"
    + _SECRET
    # Another noun would follow if the question were about that: "the password policy".
    + rf"(?=[\"'`]?(?:\s{{1,3}}(?:(?:{_OF}|{_VERB}|{_SINCE})\b|{_BECAME})|,|[^\w=:]{{0,80}}$))",
    re.I,
)
# "What is the password of staging used for?"; not "What is the password that we log in with?"
_ABOUT_IT = re.compile(
    r"\b(?:for|about|(?<!\bin )(?<!\bon )with|by|like|called|named|stored|kept|saved|"
    r"hashed|encrypted|rotated|changed|managed)\W{0,80}$",
    re.I,
)
_IT_IS = re.compile(r"^\W{0,3}(?:(?:it|this|that)(?:['\u2019]s| is| was)|es (?:ist|war))\s", re.I)
# "admin:hunter2", "admin / hunter2"; not where the two are kept: "vault:staging".
_USER = re.compile(
    r"^\W{0,3}(?!(?:vault|op|env|file|ssm|arn|aws|gcp|https?)\b)[^\s:/]{1,80}"
    r"(?:\s{0,3}:\s{0,3}|\s{1,3}/\s{1,3})(?=\S)",
    re.I,
)
_MARKS = " ?\uff1f\u061f\u037e"


def read_together(question: str, answer: str) -> Iterator[str]:
    """Yield a question and its answer as texts in which a credential is found.

    One after the other; and, if the question asks for a secret, as the secret's name and value. A
    best effort: a question worded otherwise is not recognised.
    """
    asked, answered = readable(question).text, readable(answer).text
    yield f"{asked.rstrip(_MARKS)} {answered}"
    found = _ASKED.search(asked)
    if found is None or _ABOUT_IT.search(asked) is not None:
        return
    told = _IT_IS.sub("", answered)
    if not found["both"]:
        yield f"{found['label']}: {told}"
    elif (user := _USER.match(told)) is not None:
        yield f"password: {told[user.end() :]}"
    else:  # one plain word says what kind of credentials: "read-only"
        yield f"secret: {told}"
