"""Decide whether two statements of documents stand in one context; pure.

A document's statements are about what its file and headings name: "The default is 5" in two
sections is about two things. Claim comparison sees the sentences alone.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from engram.console.audit.documents import Statement
from memories.core.topic_words import stems

# "Type: String": what it says something of is the heading above.
_FIELD: Final = re.compile(r"^[\w ./`*-]{1,40}:\s")
_POINTING: Final = re.compile(
    r"^(?:this|that|these|those|it|its|they|them|their|he|she|here|there|such|both|same|above|"
    r"below|e\.g|for example|for instance|example|note|also|then|otherwise|instead|however|but|"
    r"and|or|so|if not|in this case|defaults?\b|if (?:set|true|false)|when (?:set|true|false))\b",
    re.IGNORECASE,
)
_AGENTS: Final = re.compile(
    r"(?:^|/)(?:(?:claude|agents?|gemini|memory|memories|copilot-instructions|conventions)(?:\.local)?"
    r"\.md|\.\w+rules|[^/]+\.(?:mdc|instructions\.md|json|jsonl|ndjson))$",
    re.IGNORECASE,
)


def may_clash(a: Statement, b: Statement) -> bool:
    """Return whether two statements may contradict each other where they stand.

    Not two of one section, nor what their headings or files tell apart. The sections of one
    document are about different things, such as the functions of a reference; only those of notes
    for agents are about the project as a whole.
    """
    if a.path == b.path and not (is_of_agents(a.path) and a.headings != b.headings):
        return False
    if any(s.is_reference and not is_of_agents(s.path) for s in (a, b)):
        return False
    if any(_POINTING.match(s.text) for s in (a, b)):
        return False
    return not (_are_told_apart(a, b) or _are_fields_of_others(a, b))


def is_of_agents(path: str) -> bool:
    """Return whether a file holds notes or rules of agents, or an export of memories."""
    return _AGENTS.search(path) is not None


def _are_told_apart(a: Statement, b: Statement) -> bool:
    """Return whether what differs stands in the headings or file names, too."""
    mine, theirs = _words(a.text), _words(b.text)
    own, other = _context(a) - _context(b), _context(b) - _context(a)
    return bool((mine - theirs) & own or (theirs - mine) & other)


def _are_fields_of_others(a: Statement, b: Statement) -> bool:
    """Return whether both are short statements of which the headings are the subject."""
    last = [s.headings[-1] if s.headings else "" for s in (a, b)]
    if _words(last[0]) == _words(last[1]):
        return False
    return any(_FIELD.match(s.text) and s.kind != "row" for s in (a, b))


def _context(statement: Statement) -> frozenset[str]:
    """Return the words of the headings and of the file's name."""
    name = statement.path.rpartition("/")[2].rpartition(".")[0].replace("-", " ")
    folder = statement.path.rpartition("/")[0].rpartition("/")[2].replace("-", " ")
    found = _words(name) | _words(folder)
    for heading in statement.headings:
        found |= _words(heading.replace("-", " "))
    return found


@lru_cache(maxsize=16384)
def _words(text: str) -> frozenset[str]:
    return frozenset(stems(text))
