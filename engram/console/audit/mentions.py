"""Find paths in backticks that were removed from the repository; pure.

A path that never was in the repository is an example, or made by a build. Only one that a commit
removed, and that is nowhere else in the repository, was meant and is gone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from posixpath import join, normpath
from typing import Final

from conflicts.core.questions import quote
from engram.console.audit.candidates import is_record
from engram.console.audit.documents import Code, Document
from engram.console.audit.findings import Finding, Place

_PATH: Final = re.compile(
    r"(?:\./)?(?P<path>[\w.@+-]{1,80}(?:/[\w.@+-]{1,80}){1,20})(?::\d{1,6}(?:-\d{1,6})?)?/?"
)
_TARGET_CHARS: Final = 120


@dataclass(frozen=True, slots=True)
class Mention:
    """A path in backticks, and the paths that it may mean, relative to the repository."""

    document: Document
    code: Code
    path: str
    meant: tuple[str, ...]


def mentions_of(
    documents: Sequence[Document], folder_of: Callable[[str], str | None]
) -> list[Mention]:
    """Return the paths that documents name in backticks.

    `folder_of` returns the folder of a document within its repository ("" at the top), and None
    without a repository.
    """
    found = []
    for document in documents:
        folder = None if is_record(document.path) else folder_of(document.path)
        if folder is None:
            continue
        for code in document.codes:
            match = _PATH.fullmatch(code.text.strip())
            if match is None or "." not in match["path"].rpartition("/")[2].strip("."):
                continue
            path = match["path"]
            meant = dict.fromkeys((normpath(path), normpath(join(folder, path))))
            kept = tuple(name for name in meant if not name.startswith(".."))
            found.append(Mention(document, code, path, kept))
    return found


def find_removed(
    mentions: Iterable[Mention],
    present: Callable[[Mention], bool],
    removed: Mapping[str, str],
) -> Iterator[Finding]:
    """Yield a finding for each mention of a path that is not present and was removed.

    `removed` says of a path how it was removed.
    """
    for mention in mentions:
        told = next((removed[name] for name in mention.meant if name in removed), None)
        if told is None or present(mention):
            continue
        place = Place(
            mention.document.path, mention.code.line, mention.code.line, mention.code.text
        )
        yield Finding(
            "missing-path",
            (place,),
            f"What took the place of {quote(mention.path, _TARGET_CHARS)}?",
            f"The repository has no such file any more: {told}.",
        )
