"""Detect obvious credentials and identity numbers in texts, to refuse or to mask them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from engram.kernel.causes import CREDENTIAL
from engram.kernel.credential_shapes import SHAPES
from engram.kernel.identity_numbers import find_identity_numbers
from engram.kernel.readable import readable
from engram.kernel.refusals import InvalidError

# Names of secrets, without regard to case.
LABELS = (
    r"pass(?:word|wd|phrase|code)s?|pwd?|passw(?:ort|ört)er?|passwort|kennwort|"
    r"mot de passe|contraseña|contrasena|senha|wachtwoord|lozinka|hasło|secret(?:[ _-]?key)?|"
    r"(?:wi-?fi|wlan|hotspot|access|entry|unlock|recovery)[ -](?:code|pin)|"
    r"api[ _-]?key|access[ _-]?key|access[ _-]?token|auth[ _-]?token|client[ _-]?secret"
)
# A label, a link ("is", ":", "="), and the first word of the value.
_LABELLED = re.compile(
    r"(?:(?<![A-Za-z0-9])|(?<=[a-z])(?=(?-i:[A-Z])))"
    rf"(?P<label>{LABELS})"
    r"(?:[\"'`]|\*{1,2})?"
    r"(?P<place>(?:\s(?:for|of|on|at|to|für|von|zum|zur)\s(?:[\w./-]{1,40}\s){0,3}?[\w./-]{1,40})?)"
    r"(?P<link>\s{0,3}(?:=>|:=|={1,2}|:|：|→|->)\s{0,3}"
    r"|['\u2019]s\s{1,3}|\s{1,3}(?:is|was|are|ist|war|lautet|est|es|é|to)"
    r"(?:\s{1,2}(?:now|still|jetzt|nun|again|set to))?"
    r"\s{0,2}:?\s{1,3})"
    r"(?:[\"'`](?P<quoted>[^\"'`\n]{4,200})[\"'`]|[\"'`*]{0,2}(?P<bare>[^\s\"'`]{3,200}))",
    re.I,
)
_PIN = re.compile(
    r"\bPIN(?: code|\s(?:for|of|on|to)\s(?:[\w./-]{1,40}\s){0,3}?[\w./-]{1,40})?"
    r"(?:\s*[:=]\s*|\s+is\s+)(?P<value>\d{4,8})(?=[\s.!]*(?:$|\n))"
)
# Values that are placeholders, or words about a secret.
_NOT_THE_VALUE = re.compile(
    r"^(?:[$<{%(\[].*|\*+|\.{2}.*|…|x{3,}|_{2,}|https?:.*|[~.]{0,2}/.*|"
    r"(?-i:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)|(?:os\.|process\.|env\.|getenv|config\.|settings\.|vault[:/]).*|"
    r"(?:sha|md|rs|hs|es|ps|aes|argon|pbkdf|bcrypt|scrypt|base|utf|oauth|ed|x|rsa|tls|k)-?\d\w*(?:-\w+)*|"
    r"v\d+(?:\.\d+)*|\d{4}-\d\d-\d\d\S*|[12]?\d:\d\d\S*|\d{1,4}(?:st|nd|rd|th)|"
    r"\d+-?(?:bits?|bytes?|char(?:acter)?s?|days?|d|h|hours?|min(?:ute)?s?|m|months?|weeks?|w|"
    r"years?|y|rounds?|digits?|words?|times?|zeichen|tage?|s|sec(?:ond)?s?|[kmg]b?|%)(?:-\w+)*|"
    r"1password|bitwarden|lastpass|keepass\w*|k8s\S*|s3\S*|null|none|nil|true|false|str|string|text|"
    r"undefined|redacted|removed|hidden|secret|password|changeme\??)",
    re.I,
)
_WORDS_ABOUT = """
required optional mandatory missing wrong correct incorrect invalid valid empty blank masked
unknown changed rotated expired reset encrypted hashed salted protected disabled enabled unchanged
default temporary shared stored unset necessary needed weekly monthly daily yearly quarterly yes
no ask see same rejected accepted policy weak strong long short never always forgotten lost leaked
confidential private public generated random unique mine yours sso ldap vault keychain keyring
bcrypt scrypt argon self-service passkeys passkey manually automatically erforderlich nötig
vergessen geändert leer falsch richtig geheim
"""
_SPEAKS_OF = frozenset(_WORDS_ABOUT.split())
# Words of password policies, and words that begin advice.
_WORDS_OF_RULES = """
minimum maximum least most characters chars letters digits symbols numbers words uppercase
lowercase length username login email rotate change store update choose check managed handled
kept keep sent set use written
"""
_RULES = frozenset(_WORDS_OF_RULES.split())
_ABOUT = _SPEAKS_OF | _RULES
_WORDS_BETWEEN = "a an the in of is was are be by to at on for from with it must"
_FUNCTION_WORDS = frozenset(_WORDS_BETWEEN.split())
_DESCRIBING = re.compile(r"(?:ing|tions?|ments?|ed|ly|ity|ies|ness|ung)$")
_AND_MORE = re.compile(r"[\s,;]{1,3}(?:and|or|but|then|und|oder|aber|et|ou|y)\s", re.I)
# A secret of several words reaches to the end of its sentence.
_PHRASE = re.compile(
    r"(?<![A-Za-z0-9])(?:pass[ -]?phrase|(?:seed|recovery) phrase)(?:\*{1,2})?"
    r"\s{0,3}(?:=>|:=|={1,2}|:)(?:\*{1,2})?[ \t]{0,3}(?P<value>[^\s.;:!?\"=][^\n.;:!?\"=]{7,400})",
    re.I,
)
PHRASE_MIN_WORDS = 3
_END = re.compile(r"[\s.!?,;)\]}*]{0,80}(?:$|\n)")
_TRAILING = ".,;:!?)]}*"
HIDDEN = "[removed: {}]"


def credential_in(text: str) -> str | None:
    """Return the kind of the first credential in a text, or None."""
    return next((name for _begin, _end, name in _find(readable(text).text)), None)


def refuse_credentials(texts: Mapping[str, str | None]) -> None:
    """Raise `InvalidError` for the first of the texts (by field) that contains a credential."""
    for name, text in texts.items():
        if text and (found := credential_in(text)):
            message = f"This looks like {found}; secrets are not stored."
            raise InvalidError(name, message, cause=CREDENTIAL)


def without_credentials(text: str) -> tuple[str, int]:
    """Return a text with each credential replaced by a marker, and their number.

    Used for texts that must not be refused because of one line, such as transcripts.
    """
    as_read = readable(text)
    hidden: list[tuple[int, int, str]] = []
    for begin, end, name in sorted(_find(as_read.text)):
        first, after = as_read.begins[begin], as_read.ends[end - 1]
        if hidden and first < hidden[-1][1]:
            hidden[-1] = (hidden[-1][0], max(after, hidden[-1][1]), hidden[-1][2])
        else:
            hidden.append((first, after, name))
    parts, kept_to = [], 0
    for first, after, name in hidden:
        parts += [text[kept_to:first], HIDDEN.format(name)]
        kept_to = after
    return "".join([*parts, text[kept_to:]]), len(hidden)


def strings_in(value: object) -> Iterator[str]:
    """Yield every text in a JSON value; for a name and text also `name=text`."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield str(name)
            if isinstance(inner, str | int | float) and not isinstance(inner, bool):
                yield f"{name}={inner}"
            yield from strings_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from strings_in(inner)


def _find(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start, end and kind of each credential."""
    for name, shape in SHAPES:
        for match in shape.finditer(text):
            yield *match.span(), name
    for match in _LABELLED.finditer(text):
        begin, value = _value(match)
        if _is_secret(match, value, text):
            yield begin, begin + len(value), "a password"
    for match in _PHRASE.finditer(text):
        if _is_phrase(match["value"]):
            yield (
                match.start("value"),
                match.start("value") + len(match["value"].rstrip()),
                "a password",
            )
    for match in _PIN.finditer(text):
        yield *match.span("value"), "a password"
    yield from find_identity_numbers(text)


def _value(match: re.Match[str]) -> tuple[int, str]:
    """Return the start of a labelled value, and the value without final punctuation."""
    if match["quoted"] is not None:
        return match.start("quoted"), match["quoted"]
    return match.start("bare"), match["bare"].rstrip(_TRAILING) or match["bare"]


def _is_secret(match: re.Match[str], value: str, text: str) -> bool:
    """Return whether the text after a label is a secret rather than words about one."""
    if len(value) < 4 or _NOT_THE_VALUE.fullmatch(value) or value.casefold() in _SPEAKS_OF:
        return False
    has_symbol = any(not c.isalnum() and c not in "-_'/.,:" for c in value)
    is_mixed = any(map(str.isalpha, value)) and any(map(str.isdigit, value))
    if is_mixed or has_symbol or match["quoted"] is not None:
        return True
    if match["link"] in {"=", ":="}:
        return True  # DB_PASSWORD=swordfish
    is_for_people = match["label"].casefold().startswith(("pa", "pw", "kenn", "mot", "contra"))
    is_given = match["link"].strip() in {":", "=", "："} and len(value) >= 6
    if _END.match(text, match.end()) is None:  # the sentence continues
        is_described = value.casefold() in _ABOUT or _DESCRIBING.search(value) is not None
        is_whole = _AND_MORE.match(text, match.start("bare") + len(value)) is not None
        return is_for_people and is_given and is_whole and not is_described
    return value.isdigit() or (is_for_people and is_given)


def _is_phrase(value: str) -> bool:
    """Return whether the words after the label of a passphrase are the secret itself."""
    words = [word.strip(_TRAILING + "'`(").casefold() for word in value.split()]
    if len(words) < PHRASE_MIN_WORDS or value[0] in "$<{%([":
        return False
    about = sum(word in _ABOUT for word in words)
    has_rule = not _RULES.isdisjoint(words)
    speaks = bool(about) and not _FUNCTION_WORDS.isdisjoint(words)
    return not (has_rule or speaks or 2 * about >= len(words))
