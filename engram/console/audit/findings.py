"""What an audit reports: findings with their places, and what was not read; pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from engram.console.audit.documents import Statement
from engram.kernel.credentials import without_credentials
from memories.core.quoting import legible

Kind = Literal["contradiction", "gone", "repeat"]
Order = Literal["commits", "files"]

KINDS: Final[tuple[Kind, ...]] = ("contradiction", "gone", "repeat")
QUOTED: Final = 300  # characters of a statement that a finding quotes

# Every rule, with what it finds.
RULES: Final[dict[str, tuple[Kind, str]]] = {
    "contradiction": ("contradiction", "Two statements cannot both hold."),
    "missing-file": ("gone", "A link leads to a file that does not exist."),
    "missing-heading": ("gone", "A link leads to a heading that does not exist."),
    "missing-note": ("gone", "A wiki link leads to no note."),
    "missing-path": ("gone", "A path in backticks was removed from the repository."),
    "unsupported": ("gone", "A linked document no longer says what the statement claims."),
    "same-words": ("repeat", "The same statements stand in several places."),
    "same-claim": ("repeat", "Two statements say the same in other words."),
}


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where something stands, and what: `path` as given on the command line, lines from 1."""

    path: str
    line: int
    end_line: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a person should look at, with the question that they decide.

    The first place is where to begin; `fingerprint` stays the same while the texts and the files
    do, whatever their lines.
    """

    rule: str
    places: tuple[Place, ...]
    question: str
    reason: str

    @property
    def kind(self) -> Kind:
        """Return the kind of the rule."""
        return RULES[self.rule][0]

    @property
    def fingerprint(self) -> str:
        """Return what recognises the finding in a later audit."""
        parts = [self.rule, self.question if self.kind == "gone" else ""]
        parts += sorted(f"{place.path}\0{place.text}" for place in self.places)
        return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file, or a part of the work, that was left out, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """The result of an audit.

    `order` says where the order of statements came from: commits of their lines, or times of files.
    """

    findings: tuple[Finding, ...]
    skipped: tuple[Skipped, ...]
    files: int
    statements: int
    order: Order

    def count(self, kind: Kind) -> int:
        """Return the number of findings of a kind."""
        return sum(finding.kind == kind for finding in self.findings)


def place_of(first: Statement, last: Statement | None = None) -> Place:
    """Return the place of a statement, or of a run of statements in one file."""
    return Place(first.path, first.line, (last or first).end_line, first.text)


def without_secrets(finding: Finding) -> Finding:
    """Return a finding without credentials and control characters in what it quotes."""

    def cleaned(text: str) -> str:
        return without_credentials(legible(text))[0]

    return replace(
        finding,
        places=tuple(replace(place, text=cleaned(place.text)) for place in finding.places),
        question=cleaned(finding.question),
        reason=cleaned(finding.reason),
    )


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings by kind, then by place, in an order that the input alone determines."""
    return tuple(
        sorted(
            findings,
            key=lambda f: (KINDS.index(f.kind), f.places, f.rule, f.question, f.reason),
        )
    )


def several(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def shorten(text: str, limit: int = QUOTED) -> str:
    """Return a text of at most `limit` characters."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def listed(names: Sequence[str]) -> str:
    """Return names as an enumeration."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)
