"""Find statements that stand in several places in the same words; pure.

All that the same files repeat is one finding.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from conflicts.core.questions import quote
from engram.console.audit.candidates import Group, group_statements, is_record
from engram.console.audit.documents import Document
from engram.console.audit.findings import Finding, Place, Skipped, several
from memories.core.topic_words import stems

LEAST_WORDS: Final = 6
LEAST_STEMS: Final = 4  # words with a meaning of their own
_QUESTION_CHARS: Final = 160
# What stands in more files than this, and in a larger share of them, belongs to a template.
TEMPLATE_FILES: Final = 8
TEMPLATE_SHARE: Final = 0.2


@dataclass(frozen=True, slots=True)
class _Run:
    """Statements that stand one after another in each of several places."""

    groups: tuple[Group, ...]
    starts: tuple[tuple[int, int], ...]  # of each place: its document and statement


def find_repeats(documents: Sequence[Document]) -> tuple[list[Finding], list[Skipped]]:
    """Return the repeated runs of statements, and what was taken for a template."""
    read = [document for document in documents if not is_record(document.path)]
    positions = {
        id(statement): (d, i)
        for d, document in enumerate(read)
        for i, statement in enumerate(document.statements)
    }
    groups = group_statements(s for document in read for s in document.statements)
    places = {
        tuple(positions[id(s)] for s in group.statements): group
        for group in groups
        if len(group.statements) > 1
    }
    by_files: dict[tuple[object, ...], list[_Run]] = defaultdict(list)
    templates: dict[str, int] = defaultdict(int)
    for run in _runs(places):
        if not any(map(_is_sentence, run.groups)):
            continue
        files = tuple(sorted({document for document, _ in run.starts}))
        if len(files) > max(TEMPLATE_FILES, TEMPLATE_SHARE * len(read)):
            templates[read[files[0]].path] += len(run.groups)
        elif len(files) > 1:
            by_files[files].append(run)
        else:
            by_files[(*files, run.starts)].append(run)  # several in one file stay apart
    findings = [
        _finding(runs)
        for runs in by_files.values()
        if any(_says_enough(group) for run in runs for group in run.groups)
    ]
    skipped = [
        Skipped(path, f"{several(count, 'statement')} that most files repeat, as of a template")
        for path, count in sorted(templates.items())
    ]
    return findings, skipped


def _runs(places: dict[tuple[tuple[int, int], ...], Group]) -> list[_Run]:
    """Join groups whose members all stand right behind those of another group."""
    following = {starts: tuple((d, i + 1) for d, i in starts) for starts in places}
    behind = {after: starts for starts, after in following.items() if after in places}
    runs = []
    for starts, group in places.items():
        if starts in behind:
            continue
        chain, at = [group], following[starts]
        while at in places:
            chain.append(places[at])
            at = following[at]
        runs.append(_Run(tuple(chain), starts))
    return runs


def _is_sentence(group: Group) -> bool:
    """Return whether a statement says something; rows of tables are alike by their columns."""
    return group.statements[0].kind != "row" and len(group.text.split()) >= LEAST_WORDS


def _says_enough(group: Group) -> bool:
    """Return whether a statement is worth one place by itself."""
    return _is_sentence(group) and len(set(stems(group.text))) >= LEAST_STEMS


def _finding(runs: Sequence[_Run]) -> Finding:
    groups = [group for run in runs for group in run.groups]
    places = tuple(
        Place(first.path, first.line, last.end_line, first.text)
        for run in runs
        for first, last in zip(run.groups[0].statements, run.groups[-1].statements, strict=True)
    )
    foremost = next(group.text for group in groups if _says_enough(group))
    said = quote(foremost, _QUESTION_CHARS)
    count = len(groups)
    what = said if count == 1 else f"{said} and {several(count - 1, 'more statement')}"
    files = len({place.path for place in places})
    where = f"in {files} files" if files > 1 else f"{len(places)} times in one file"
    return Finding(
        "same-words",
        places,
        f"Should {what} stand in one place only?",
        f"The same {'words stand' if count == 1 else f'{count} statements stand'} {where}; an edit "
        "of one leaves the others behind.",
    )
