"""Find links to files, headings and notes that do not exist; pure but for looking files up."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from posixpath import dirname, join, normpath, splitext
from typing import Final
from urllib.parse import unquote

from conflicts.core.questions import quote
from engram.console.audit.documents import Document, Link, slug
from engram.console.audit.findings import Finding, Place
from memories.core.note_paths import name_key, names_of

Exists = Callable[[str], bool]

_SCHEME: Final = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]{0,30}:|^//")
_PLACEHOLDER: Final = re.compile(r"[{}<>$*|%]|\.\.\.|…")
_PAGES: Final = (".md", ".mdx", ".markdown", "/index.md", "/README.md", "/index.mdx")
_MARKDOWN: Final = (".md", ".markdown", ".mdx", ".mdc")
# Extensions of what generators of pages make; a link to one says nothing about the sources.
_GENERATED: Final = frozenset([".html", ".htm", ".php", ".aspx"])
_TARGET_CHARS: Final = 120
_SUFFIX: Final = re.compile(r"(?<!\d)\d++$")  # of the second heading in the same words
_EXTENSION: Final = re.compile(r"\A\.[A-Za-z][A-Za-z0-9]{0,9}\Z")
_LINES: Final = re.compile(r"^[lL]\d+(?:-[lL]?\d+)?$")


def find_missing(documents: Sequence[Document], exists: Exists) -> list[Finding]:
    """Return the links of documents that lead nowhere.

    `exists` says whether a path (as the documents' paths are written) is a file or folder.
    """
    known = {document.path: document for document in documents}
    found: list[Finding] = []
    for document in documents:
        for link in document.links:
            if link.wiki is None:
                found += _missing(document, link, known, exists)
    return _joined(found) + list(_missing_notes(documents))


def _joined(findings: Sequence[Finding]) -> list[Finding]:
    """Return one finding for all links of a document with the same target."""
    joined: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        key = finding.places[0].path, finding.question
        first = joined.get(key)
        joined[key] = (
            finding if first is None else replace(first, places=(*first.places, *finding.places))
        )
    return list(joined.values())


def local_target(link: Link) -> tuple[str, str] | None:
    """Return the path and the anchor that a link names; None for addresses and placeholders."""
    target = link.target.strip()
    if not target or _SCHEME.match(target) or _PLACEHOLDER.search(unquote(target)):
        return None
    path, _, anchor = target.partition("#")
    return unquote(path.partition("?")[0]), unquote(anchor)


def linked_document(
    document: Document, link: Link, known: Mapping[str, Document]
) -> Document | None:
    """Return the document of the audit that a link leads to."""
    if link.wiki is not None or (target := local_target(link)) is None:
        return None
    path, _ = target
    if not path:
        return document
    return known.get(resolved(document.path, path))


def resolved(source: str, target: str) -> str:
    """Return the path that a link in `source` leads to."""
    return normpath(join(dirname(source), target))


def _missing(
    document: Document, link: Link, known: Mapping[str, Document], exists: Exists
) -> Iterator[Finding]:
    target = local_target(link)
    if target is None or target[0].startswith(("/", "~", "@")):  # of a site, or of a generator
        return
    path, anchor = target
    place = Place(document.path, link.line, link.line, link.label or link.target)
    where = resolved(document.path, path) if path else document.path
    if path and not exists(where):
        if _is_page(path, where, exists) or not _names_a_file(path):
            return
        yield Finding(
            "missing-file",
            (place,),
            f"Where should the link to {quote(path, _TARGET_CHARS)} lead?",
            f"There is no {where}.",
        )
    elif anchor and (to := known.get(where)) is not None and _is_missing(to, anchor):
        yield Finding(
            "missing-heading",
            (place,),
            f"Which heading of {to.path} does {quote('#' + anchor, _TARGET_CHARS)} mean?",
            f"{to.path} has no heading or anchor of this name.",
        )


def _is_page(path: str, where: str, exists: Exists) -> bool:
    """Return whether a generator of pages makes the target from a file that exists."""
    stem, extension = splitext(where)
    if extension in _GENERATED:
        return True
    return any(exists(f"{base}{end}") for base in (where.rstrip("/"), stem) for end in _PAGES)


def _names_a_file(path: str) -> bool:
    """Return whether a target is spelled as a file, not as the address of a page."""
    extension = splitext(path.rstrip("/"))[1]
    return bool(_EXTENSION.match(extension)) and not path.endswith("/")


def _is_missing(document: Document, anchor: str) -> bool:
    """Return whether a document has no such heading; what generators may add is not judged."""
    if not document.path.endswith(_MARKDOWN) or "." in anchor or ":" in anchor:
        return False
    wanted = slug(anchor)
    if not wanted or anchor in document.ids or wanted in map(slug, document.ids):
        return False
    if _LINES.match(anchor) or wanted == "top":
        return False
    titles = [slug(title) for title in document.headings]
    if wanted in titles or _SUFFIX.sub("", wanted) in titles:
        return False
    # Some generators name a heading by its beginning: "DEP0111: …".
    return not any(title.startswith(wanted) for title in titles)


def _missing_notes(documents: Sequence[Document]) -> Iterator[Finding]:
    """Yield the wiki links that lead to no file, where most of them do lead to one.

    Elsewhere double brackets are something else, such as a test of a shell.
    """
    names = {
        name.key
        for document in documents
        for name in names_of(document.path.removeprefix("./"), document.aliases)
    }
    links = [
        (document, link)
        for document in documents
        for link in document.links
        if link.wiki is not None and link.wiki.target
    ]
    missing = [
        (document, link)
        for document, link in links
        if name_key(link.target.removeprefix("./").lstrip("/")) not in names
    ]
    if 2 * len(missing) > len(links):
        return
    for document, link in missing:
        if _PLACEHOLDER.search(link.target) or splitext(link.target)[1] not in ("", ".md"):
            continue
        yield Finding(
            "missing-note",
            (Place(document.path, link.line, link.line, link.label),),
            f"Which note does {quote(f'[[{link.target}]]', _TARGET_CHARS)} mean?",
            f"No file of the audit is called {quote(link.target, _TARGET_CHARS)}.",
        )
