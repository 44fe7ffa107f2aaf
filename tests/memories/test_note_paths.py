"""Paths of notes, and which note a link means: never the first match among several."""

from __future__ import annotations

import unicodedata

import pytest

from memories.core.note_paths import (
    ALIAS,
    AMBIGUOUS,
    ATTACHMENT,
    SELF,
    UNRESOLVED,
    NamedNote,
    PathError,
    Resolution,
    link_name,
    linkable_path,
    name_key,
    names_of,
    normalise_path,
    resolve,
)


def resolve_among(target: str, *paths: str, own: str = "", **aliases: list[str]) -> Resolution:
    """Resolve a target among notes, whose ids are their paths."""
    rows = [
        (name.key, NamedNote(path, name.kind, name.name, path))
        for path in paths
        for name in names_of(path, aliases.get(path, []))
    ]
    name = link_name(target)
    assert name is not None
    return resolve(name, [row for key, row in rows if key == name_key(name)], own or None)


@pytest.mark.parametrize(
    "path",
    [
        "", "/etc/passwd", "a//b", "a/", "a/../b", "..", ".", "a/./b", "a\\b", "a\nb", "a\x00b",
        "a\u202eb", " a", "a /b", ".md", "x/.markdown", "a" * 401, "/".join("a" * 33),
        "a/\ufffd.md",
    ],
)  # fmt: skip
def test_a_path_that_could_lead_elsewhere_is_refused(path: str) -> None:
    with pytest.raises(PathError):
        normalise_path(path)


@pytest.mark.parametrize("path", ["c#.md", "a|b.md", "[[a]].md", "a/[1]/b", "]"])
def test_a_path_that_no_link_can_name_is_none_of_a_new_note(path: str) -> None:
    assert normalise_path(path) == path  # notes that have one are still found
    with pytest.raises(PathError):
        linkable_path(path)


def test_unicode_twins_are_one_path_and_case_twins_are_two() -> None:
    composed, apart = "caf\u00e9.md", "cafe\u0301.md"
    assert normalise_path(apart) == normalise_path(composed) == composed
    assert normalise_path("Index.md") != normalise_path("index.md")
    assert unicodedata.is_normalized("NFC", name_key("\u0130stanbul.MD"))


def test_a_name_in_two_folders_is_ambiguous_and_its_shortest_unique_path_is_not() -> None:
    """A link that two notes may mean leads to neither, not to the first one found (pitfall 9)."""
    notes = ("a/index.md", "b/index.md")
    assert resolve_among("index", *notes) == Resolution(None, AMBIGUOUS)
    assert resolve_among("a/index", *notes) == Resolution("a/index.md")
    assert resolve_among("a/index.md", *notes) == Resolution("a/index.md")


def test_a_link_never_matches_a_part_of_a_segment() -> None:
    """A link to `link` must not be led to `hyperlink.md`, whose name only ends so (pitfall 9)."""
    assert resolve_among("link", "hyperlink.md") == Resolution(None, UNRESOLVED)
    assert resolve_among("b/index", "ab/index.md") == Resolution(None, UNRESOLVED)
    assert resolve_among("link.md", "hyperlink.md", "x/link.md") == Resolution("x/link.md")


def test_the_exact_path_wins_over_ends_of_paths_and_aliases() -> None:
    notes = ("index.md", "a/index.md")
    assert resolve_among("index", *notes) == Resolution("index.md")
    found = resolve_among("index", *notes, "other.md", **{"other.md": ["index"]})
    assert found == Resolution("index.md")
    assert resolve_among("plan", "plan", "plan.md") == Resolution("plan")
    assert resolve_among("plan.md", "plan", "plan.md") == Resolution("plan.md")


def test_an_alias_leads_to_its_note_unless_two_notes_have_it() -> None:
    aliases = {"work/billing.md": ["Invoices"], "old.md": ["Invoices"]}
    one = resolve_among("invoices", "work/billing.md", **{"work/billing.md": ["Invoices"]})
    assert one == Resolution("work/billing.md")
    assert resolve_among("Invoices", *aliases, **aliases) == Resolution(None, AMBIGUOUS)


def test_another_case_leads_to_a_note_only_where_it_is_unique() -> None:
    assert resolve_among("INDEX", "a/Index.md") == Resolution("a/Index.md")
    twins = ("Index.md", "index.md")
    assert resolve_among("index", *twins) == Resolution("index.md")
    assert resolve_among("Index", *twins) == Resolution("Index.md")
    assert resolve_among("INDEX", *twins) == Resolution(None, AMBIGUOUS)


def test_a_note_does_not_link_itself() -> None:
    assert resolve_among("a", "a.md", own="a.md") == Resolution(None, SELF)


def test_relative_links_are_read_from_the_folder_and_do_not_leave_the_top() -> None:
    assert link_name("./b", "work/x") == "work/x/b"
    assert link_name("../b", "work/x") == "work/b"
    assert link_name("../../../b", "work/x") is None
    assert link_name("/a/b", "work") == "a/b"


@pytest.mark.parametrize(
    "target", ["photo.png", "papers/flood.PDF", "./board.canvas", "Notes from a.b.webm"]
)
def test_a_file_that_no_note_is_named_like_is_an_attachment(target: str) -> None:
    assert resolve_among(target, "photo.md") == Resolution(None, ATTACHMENT)


@pytest.mark.parametrize("target", ["node.js", "v1.2", "png", ".png", "paper.pdf.old", "a.png/b"])
def test_a_name_with_another_dot_is_that_of_a_missing_note(target: str) -> None:
    assert resolve_among(target, "photo.md") == Resolution(None, UNRESOLVED)


def test_a_note_named_like_a_file_is_found() -> None:
    assert resolve_among("photo.png", "scans/photo.png.md") == Resolution("scans/photo.png.md")


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("2026_05_04", "May 4th, 2026"),
        ("2025_12_01", "Dec 1st, 2025"),
        ("2024_02_22", "Feb 22nd, 2024"),
        ("2024_02_12", "Feb 12th, 2024"),
        ("2023_08_31", "Aug 31st, 2023"),
        ("2023_03_13", "Mar 13th, 2023"),
        ("2023_03_23", "Mar 23rd, 2023"),
    ],
)
def test_a_journal_page_of_logseq_is_found_by_its_title(name: str, title: str) -> None:
    path = f"graph/journals/{name}.md"
    assert resolve_among(title, path, "pages/plan.md") == Resolution(path)
    assert resolve_among(title, f"pages/{name}.md") == Resolution(None, UNRESOLVED)


@pytest.mark.parametrize("name", ["2026_13_04", "2026_02_30", "2026-05-04", "index", ""])
def test_other_files_among_journals_have_no_title(name: str) -> None:
    assert ALIAS not in {one.kind for one in names_of(f"journals/{name}.md", [])}
