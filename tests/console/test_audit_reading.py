"""Statements, links and anchors of Markdown, and texts of exports, each with its line."""

import json

import pytest

from engram.console.audit.documents import Document, read_document
from engram.console.audit.exports import ExportError, read_export


def stated(document: Document) -> list[tuple[int, str]]:
    return [(statement.line, statement.text) for statement in document.statements]


def test_sentences_items_and_rows_are_statements_with_their_lines() -> None:
    text = """---
title: Billing
---

# Billing

Invoices leave on Mondays. They are
checked by finance before that.

- Refunds need *two* people.
  - The limit is `30` days.

| setting | value |
|---|---|
| retries | 3 |
"""
    assert stated(read_document("a.md", text)) == [
        (7, "Invoices leave on Mondays."),
        (7, "They are checked by finance before that."),
        (10, "Refunds need two people."),
        (11, "The limit is 30 days."),
        (15, "retries: value 3"),
    ]


def test_a_sentence_that_begins_on_a_later_line_has_that_line() -> None:
    text = "One `code\nspan` ends here.\nThe second\nsentence follows.\n"
    assert [line for line, _ in stated(read_document("a.md", text))] == [1, 3]
    (_, second) = read_document("a.md", text).statements
    assert (second.line, second.end_line) == (3, 4)


def test_code_comments_and_quotes_state_nothing() -> None:
    text = "```\nDeploy on Fridays.\n```\n\n<!-- Never. -->\n\n> He said: deploy.\n\n    indented\n"
    assert stated(read_document("a.md", text)) == []


def test_headings_above_a_statement_are_known() -> None:
    text = "# Shop\n\n## Sessions\n\nThey expire.\n\n## Carts\n\nThey stay.\n"
    headings = [s.headings for s in read_document("a.md", text).statements]
    assert headings == [("Shop", "Sessions"), ("Shop", "Carts")]


def test_links_of_all_forms_have_targets_and_lines() -> None:
    text = (
        "See [a](one.md#top) and\n[b][ref].\n\n![i](pic.png) [[notes/two|Two]] `docs/x.md`\n"
        "<https://example.com>\n\n[ref]: <three (3).md>\n"
    )
    document = read_document("a.md", text)
    assert [(link.target, link.line) for link in document.links] == [
        ("one.md#top", 1),
        ("three%20(3).md", 2),
        ("pic.png", 4),
        ("https://example.com", 5),
        ("notes/two", 4),
    ]
    assert [(code.text, code.line) for code in document.codes] == [("docs/x.md", 4)]


def test_anchors_of_html_and_attributes_are_known() -> None:
    text = '<a name="old"></a>\n\n## Setup {#install}\n\ntext <span id="inline">x</span>\n'
    document = read_document("a.md", text)
    assert document.ids == {"old", "install", "inline"}
    assert document.headings == ["Setup"]


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_of_other_systems_count_as_lines(end: str) -> None:
    text = end.join(["# A", "", "First thing here.", "", "Second thing here.", ""])
    assert [line for line, _ in stated(read_document("a.md", text))] == [3, 5]


@pytest.mark.parametrize(
    "text",
    ["[" * 20_000, "[a](" * 10_000, "`" * 20_001, "*a " * 20_000, "> " * 5_000, "[[" * 20_000,
     "| a " * 20_000 + "\n|" + "-|" * 20_000, "<a id=" * 10_000, "word\n" * 20_000,
     "[x](y.md) " * 10_000],
)  # fmt: skip
def test_nested_and_repeated_marks_are_read(text: str) -> None:
    assert read_document("a.md", text).path == "a.md"


MEM0 = {"results": [{"memory": "First “quoted” text."}, {"memory": "Second text. Third text."}]}


def test_an_export_of_mem0_has_lines_of_its_texts() -> None:
    content = json.dumps(MEM0, indent=1)
    document = read_export("m.json", content)
    first, second, third = stated(document)
    assert (first[1], second[1], third[1]) == (
        "First “quoted” text.",
        "Second text.",
        "Third text.",
    )
    lines = content.split("\n")
    assert "First" in lines[first[0] - 1]
    assert "Second" in lines[second[0] - 1]
    assert third[0] == second[0]


def test_json_lines_have_the_line_of_their_object() -> None:
    content = '{"content": "Alpha one."}\n\n{"text": "Beta two."}\n{"id": 3}\n'
    assert stated(read_export("m.jsonl", content)) == [(1, "Alpha one."), (3, "Beta two.")]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("m.json", "{", "line 1 is not JSON"),
        ("m.jsonl", '{"memory": "a b"}\n{', "line 2 is not JSON"),
        ("m.json", "[" * 100_000, "not JSON"),
        ("m.json", "[]", "holds no statements"),
        ("m.json", '{"name": "package"}', "holds no statements"),
        ("m.json", '[1, null, {"memory": 5}]', "holds no statements"),
    ],
)
def test_what_is_no_export_is_refused_with_the_reason(name: str, content: str, reason: str) -> None:
    with pytest.raises(ExportError, match=reason):
        read_export(name, content)
