"""Read from plain statements what they answer: who owns, which version, where kept, when open.

Only statements of one short sentence in the present count, without a condition, a change or a
negation: then question and answer are parts of the sentence. What a writer says comes first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from memories.core.answers import Answer
from memories.core.lexicon import concept_of, is_product
from memories.core.reading import read_cached
from memories.core.sentence_case import in_mid_sentence

MAX_CHARS: Final = 160
_NOBODY: Final = r"(?!(?:Nobody|Everybody|Anybody|Somebody|Everyone|Anyone|Someone|None)\b)"
_NAME: Final = rf"{_NOBODY}[A-Z][\w-]{{0,30}}(?:\s[A-Z][\w-]{{0,30}}){{0,2}}"
_DETERMINED: Final = r"(?:[Tt]he|[Oo]ur)\s[\w-]{1,30}(?:\s[\w-]{1,30}){0,3}"
_THING: Final = r"(?P<thing>(?!(?:From|In|On|At|For|With|By|Of)\s)[^,;:()]{2,80}?)"
_WHO: Final = rf"(?P<who>{_DETERMINED}|{_NAME})"
_ACTS: Final = {
    "owns": "owned", "maintains": "maintained", "approves": "approved", "leads": "led",
    "manages": "managed", "reviews": "reviewed", "coordinates": "coordinated",
}  # fmt: skip
_ROLES: Final = {
    "owner": "owns", "maintainer": "maintains", "approver": "approves", "lead": "leads",
    "leader": "leads", "manager": "manages", "reviewer": "reviews", "coordinator": "coordinates",
    "head": "leads",
}  # fmt: skip
_DOES: Final = rf"{'|'.join(_ACTS)}|heads|is\sresponsible\sfor|is\sin\scharge\sof|signs\soff"
_PARTICIPLES: Final = {done: acts for acts, done in _ACTS.items()} | {"headed": "leads"}
_KEPT: Final = r"kept|stored|located|hosted|filed|archived"
_TIME: Final = r"\d{1,2}(?::\d{2})?(?:\s?[ap]\.?m\.?)?|noon|midnight"
_PLACE: Final = r"(?:in|at|on|under)\s(?:the\s|our\s|a\s|an\s|room\s|(?=[A-Z]))[^,;:()\d]{2,60}"

_PATTERNS: Final = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("owner", rf"{_WHO}\s(?P<does>{_DOES})\s"
         rf"(?P<thing>(?:the|our|all)\s[^,;:()]{{2,80}}|{_NAME})"),
        ("owned", rf"{_THING}\s(?P<be>is|are)\s(?P<done>{'|'.join(_PARTICIPLES)})\sby\s{_WHO}"),
        ("role", rf"[Tt]he\s(?P<role>{'|'.join(_ROLES)})\sof\s{_THING}\sis\s{_WHO}"),
        ("version", rf"{_THING}\s(?:runs\son|runs|uses|is\son|requires)\s"
         r"(?P<product>[A-Z][\w+#.-]{1,30})\s(?:version\s|v)?(?P<version>\d{1,4}(?:\.\d{1,4}){0,3})"),
        ("kept", rf"{_THING}\s(?P<be>is|are)\s(?P<kept>{_KEPT})\s(?P<place>{_PLACE})"),
        ("lives", rf"(?P<thing>{_NAME})\slives\sin\s(?P<place>{_NAME})"),
        ("hours", rf"{_THING}\s(?P<verb>open|close|start|begin)(?P<s>s?)\sat\s(?P<time>{_TIME})"),
    )
)  # fmt: skip
_NOT_PLAIN: Final = re.compile(
    r"\b(?:not|never|no|if|unless|until|except|when|while|should|could|might|may|would|will|was|"
    r"were|had|used|now|again|instead|longer|also|too|another|additional|further|only|or|and|maybe|"
    r"perhaps|proposal|draft|"
    r"temporar\w*|today|this|next|last)\b|[?\"“”]",
    re.IGNORECASE,
)
_POINTER: Final = re.compile(
    r"^(?:it|he|she|they|this|that|these|those|we|i|you|who|which)\b", re.IGNORECASE
)


def typed_answers(content: str) -> tuple[Answer, ...]:
    """Return what a statement answers, at most one answer; empty where no rule is sure."""
    text = content.strip().rstrip(".!").strip()
    if len(text) > MAX_CHARS or "\n" in text or _NOT_PLAIN.search(text) or _POINTER.match(text):
        return ()
    for kind, pattern in _PATTERNS:
        found = pattern.fullmatch(text)
        if found is not None and _is_sure(kind, found) and _is_fact(content, found):
            return (_answer(kind, found),)
    return ()


def _is_sure(kind: str, found: re.Match[str]) -> bool:
    """Return whether a number is a version: of known software, or by its form."""
    if kind != "version":
        return True
    return is_product(concept_of(found["product"].lower())) or "." in found["version"]


def _is_fact(content: str, found: re.Match[str]) -> bool:
    """Return whether a text makes one claim, and says it of the thing of a match without a limit.

    "Over Easter the kiosk opens at 10" is of Easter; the verb of "Ana says the kiosk opens at 10"
    is another one.
    """
    claims = read_cached(content).claims
    if len(claims) != 1 or claims[0].modality != "fact" or claims[0].transition is not None:
        return False
    regions = {term.region for term in claims[0].terms}
    verb = found.groupdict().get("verb")
    is_limited = not regions.isdisjoint(("condition", "aside"))
    return not is_limited and (verb is None or claims[0].verb == concept_of(verb))


def _answer(kind: str, found: re.Match[str]) -> Answer:
    """Return the question that a match answers."""
    part = found.groupdict()
    thing = _thing(kind, found)
    if kind in ("owner", "owned", "role"):
        return Answer(f"Who {_verb_of(kind, part)} {thing}?", part["who"])
    if kind == "version":
        return Answer(f"Which version of {part['product']} does {thing} use?", part["version"])
    if kind == "kept":
        return Answer(f"Where {part['be'].lower()} {thing} {part['kept'].lower()}?", part["place"])
    if kind == "lives":
        return Answer(f"Where does {thing} live?", part["place"])
    does = "does" if part["s"] else "do"
    return Answer(f"When {does} {thing} {part['verb'].lower()}?", part["time"])


def _thing(kind: str, found: re.Match[str]) -> str:
    """Return what the question is about as it stands inside a sentence."""
    thing = found["thing"]
    if found.start("thing") > 0 or kind == "lives":
        return thing
    part = found.groupdict()
    return in_mid_sentence(thing, is_plural=part.get("be") == "are" or part.get("s") == "")


def _verb_of(kind: str, part: Mapping[str, str]) -> str:
    """Return the verb of a question for a person: "owns", also for "owned by" and "owner of"."""
    if kind == "owner":
        does = part["does"].lower()
        return "leads" if does == "heads" else does
    return _PARTICIPLES[part["done"].lower()] if kind == "owned" else _ROLES[part["role"]]
