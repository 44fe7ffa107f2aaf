"""What is read of a note: front matter, links, tags, passages; and what cannot hurt it."""

from __future__ import annotations

from typing import Any

import pytest

from engram.kernel.credentials import without_credentials
from memories.core.front_matter import UnreadableError, parse, read_properties
from memories.core.markdown import without_comments, without_struck_out
from memories.core.markdown_links import pieces
from memories.core.note_chunks import CHUNK_WEIGHT, chunk_note, weight
from memories.core.notes import OverfullError, read_note
from memories.core.wiki_links import WikiLink, inline_tags, wiki_links

FRONT = """---
title: Billing rules
aliases: [Invoices, "[[Payments]]"]
tags:
  - Money
  - work/ops
reviewed: 2026-03-01
---
# How we bill

Text with #Urgent and #1 and `#code`.
"""


def test_front_matter_gives_title_aliases_and_tags_as_texts() -> None:
    note = read_note("work/billing.md", FRONT)
    assert note.title == "Billing rules"
    assert note.aliases == ["Invoices", "Payments"]
    assert note.tags == ["money", "urgent", "work/ops"]
    assert note.properties["reviewed"] == "2026-03-01"
    assert [(chunk.heading, chunk.text) for chunk in note.chunks] == [
        ("How we bill", "Text with #Urgent and #1 and `#code`.")
    ]


@pytest.mark.parametrize(
    ("head", "tags"),
    [
        ("tag: bread cake", ["bread", "cake"]),
        ("tags: 'bread, #cake  tea'", ["bread", "cake", "tea"]),
        ("tags: '[[high tea]] bread'", ["bread", "high tea"]),
        ("tags: [high tea, bread]", ["bread", "high tea"]),
        ("tags: >\n  bread\n  cake", ["bread", "cake"]),
    ],
)
def test_blanks_part_the_tags_of_a_text_in_front_matter(head: str, tags: list[str]) -> None:
    assert read_note("a.md", f"---\n{head}\n---\nx").tags == tags


def test_blanks_do_not_part_the_tags_of_an_outliner_nor_aliases() -> None:
    assert read_note("a.md", "tags:: high tea, bread\n\n- x").tags == ["bread", "high tea"]
    assert read_note("a.md", "---\nalias: High tea\n---\nx").aliases == ["High tea"]
    both = read_note("a.md", "---\ntags: red blue\n---\ntags:: high tea\n")
    assert both.tags == ["blue", "red"]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("key: [removed: AWS key]", {"key": "[removed: AWS key]"}),
        ('key: "[removed: AWS key]"', {"key": "[removed: AWS key]"}),
        ("keys: [a, [removed: a token]]", {"keys": ["a", "[removed: a token]"]}),
        ("keys:\n- [removed: a token]\n- b", {"keys": ["[removed: a token]", "b"]}),
        ("url: https://me:[removed: a password]@x.test", {
            "url": "https://me:[removed: a password]@x.test"}),
        ("kept: [removed, b]", {"kept": ["removed", "b"]}),
    ],
)  # fmt: skip
def test_the_marker_of_a_credential_is_a_text(written: str, read: dict[str, Any]) -> None:
    assert parse(written) == read


def test_a_credential_in_front_matter_leaves_a_text() -> None:
    content, count = without_credentials("---\nkey: AKIA" + "Q3EGRIAZ7LTCW2XD\n---\nx")
    assert count == 1
    value = read_note("a.md", content).properties["key"]
    assert isinstance(value, str)
    assert value.startswith("[removed: ")


@pytest.mark.parametrize("none", ["null", "~", "Null"])
def test_a_property_without_a_value_names_nothing(none: str) -> None:
    note = read_note("a.md", f"---\ntitle: {none}\naliases: {none}\ntags: {none}\n---\n# Head\n")
    assert (note.title, note.aliases, note.tags) == ("Head", [], [])


@pytest.mark.parametrize("quoted", ['"null"', "'null'", '"~"'])
def test_a_quoted_null_is_a_text(quoted: str) -> None:
    note = read_note("a.md", f"---\ntitle: {quoted}\naliases: [{quoted}, x, null]\n---\n# Head\n")
    text = quoted[1:-1]
    assert (note.title, note.aliases) == (text, [text, "x"])
    assert parse('null: null\n"b": ~\nc: Null') == {"null": "", "b": "", "c": ""}


def test_page_properties_of_an_outliner_are_read_at_the_beginning_only() -> None:
    note = read_note("a.md", "alias:: One, [[Two, too]]\ntags:: x\n\n- block\n  title:: no\n")
    assert (note.aliases, note.tags, note.title) == (["Two, too", "One"], ["x"], "a")


@pytest.mark.parametrize(
    "head",
    [
        "title: a: b", "- a\n- b", "a: &x [1]\nb: *x", "a: [", "{" * 200, "text", "? [a]\n: b",
        r'a: "b\0"', r'"a\0": b', r'a: ["\uD800"]', r'a: "\UFFFFFFFF"',
        "a: " + "x" * 20_000, "\n".join(f"a{i}: b" for i in range(2_001)),
    ],
)  # fmt: skip
def test_broken_front_matter_is_read_as_text(head: str) -> None:
    with pytest.raises(UnreadableError):
        parse(head)
    content = f"---\n{head}\n---\n# Title\n"
    assert read_properties(content) == ({}, content, frozenset())
    assert read_note("a.md", content).properties == {}


def test_the_title_is_the_first_heading_or_the_name() -> None:
    assert read_note("work/plan.md", "text\n\n## First\n").title == "First"
    assert read_note("work/plan.md", "text").title == "plan"
    assert read_note("work/plan.md", "# First", "Given").title == "Given"
    assert read_note("a.md", "Under\n=====\n\ntext").title == "Under"


def test_links_are_read_with_heading_label_and_embed_but_not_in_code() -> None:
    text = (
        "See [[work/billing#Rules|the rules]], ![[plan]], [[a#^b1]], [[a#^b1]] and \\[[no]].\n"
        "`[[no]]` ``[[no]] ` `` ((5f3a-b2)) [[]] [[|x]] [[a\nb]]\n"
        "```\n[[no]]\n```\n~~~md\n[[no]]\n~~~\n| [[t\\|cell]] | {{embed [[page]]}}\n"
    )
    assert wiki_links(text) == [
        WikiLink("work/billing", "Rules", "the rules"),
        WikiLink("plan", is_embed=True),
        WikiLink("a", "^b1"),
        WikiLink("t", label="cell"),
        WikiLink("page", is_embed=True),
    ]


def test_tags_are_words_with_a_letter() -> None:
    text = "#One (#two) a#no #3 #4-5 x/#no #é, ##no #one\n# heading #tail/"
    assert inline_tags(text) == ["one", "two", "é", "tail"]


def test_markdown_links_to_notes_are_read_by_path_with_percent_signs_decoded() -> None:
    text = (
        "[Deep](sub/Deep.md#Some%20part) ![`x`](../a%20b.MD) [[wiki]] [p](Deep%20(1).md)\n"
        '[top](/c.markdown "title") [angle](<d e.md>)\r\n[dots](%2e%2e/f.md)\n'
        "[no](https://x.test/a.md) [no](mailto:a.md) [no](//host/a.md) [no](a.png) [no](#part)\n"
        "[no](a%00.md) [no](a%0Ab.md) \\[no](a.md) `[no](a.md)` %%[no](a.md)%% [no](.md x)\n"
        f"[no]({'x' * 500}.md) [no]() [no](a b.md)\n"
    )
    assert read_note("work/a.md", text).links == [
        WikiLink("./sub/Deep.md", "Some part", "Deep"),
        WikiLink("../a b.MD", label="`x`", is_embed=True),
        WikiLink("wiki"),
        WikiLink("./Deep (1).md", label="p"),
        WikiLink("/c.markdown", label="top"),
        WikiLink("./d e.md", label="angle"),
        WikiLink("../f.md", label="dots"),
    ]


def test_markdown_links_whose_address_stands_elsewhere_are_read() -> None:
    text = (
        "[the oven][Oven  1] ![x][oven 1] [oven 1][] [oven 1], [x] [oven 1](#no) [[x]] [web][w]\n"
        "`[oven 1]` \\[oven 1] [gone][nothing] [oven 1]: no\n\n"
        "[oven 1]: ../kitchen/oven%20a.md#Heat 'The oven'\n[oven 1]: other.md\n[^1]: no.md [^1]\n"
        "  [X]: <a b.md>\n[w]: https://w.test/a.md\n```\n[gone]: no.md\n```\n"
    )
    oven = ("../kitchen/oven a.md", "Heat")
    assert read_note("work/a.md", text).links == [
        WikiLink(*oven, "the oven"),
        WikiLink(*oven, "x", is_embed=True),
        WikiLink(*oven, "oven 1"),
        WikiLink("./a b.md", label="x"),
        WikiLink("x"),
    ]


@pytest.mark.parametrize(
    ("text", "linked"),
    [
        ("Config:\n\n    [[no]]\n\n    [[no]]\n\n[[yes]]", ["yes"]),
        ("# A\n\t[[no]]", []),
        ("    [[no]]\n[[yes]]", ["yes"]),
        ("Text\n    [[yes]]", ["yes"]),
        ("- a\n\n    [[yes]]\n\n    - [[two]]", ["yes", "two"]),
        ("1. a\n\t- [[yes]]\n\t\t- [[two]]", ["yes", "two"]),
        ("3) a\n\n   b\n\n    [[yes]]\n\nc\n\n    [[no]]", ["yes"]),
        ("- a\ngoes on\n\n    [[yes]]", ["yes"]),
        ("- a\n\nNo item.\n\n    [[no]]", []),
        ("A.[^1]\n\n[^1]: B.\n\n    [[yes]]", ["yes"]),
        ("```\nx\n```\n    [[no]]", []),
    ],
)
def test_indented_code_has_no_links_and_paragraphs_of_items_do(
    text: str, linked: list[str]
) -> None:
    assert [link.target for link in wiki_links(text)] == linked


def test_nothing_within_a_link_is_a_tag() -> None:
    text = '[[Billing#Rules #rules]] [a #no](#part) [[x|see #no]] #yes [b](c.md "d #no") (#two)'
    assert inline_tags(text) == ["yes", "two"]


def test_the_title_of_an_outliners_page_is_a_name_of_it() -> None:
    assert read_note("p.md", "title:: Ovens, old\nalias:: Heat\n\n- x").aliases == [
        "Heat", "Ovens, old",
    ]  # fmt: skip
    assert read_note("p.md", "---\ntitle: Ovens\n---\nx").aliases == []
    assert read_note("p.md", f"title:: {'x' * 201}\n").aliases == []


def test_pieces_join_to_the_text() -> None:
    text = "a [b](c.md) [[d]] e [f](g.md#h) [i][j]\n\n[j]: k.md"
    assert "".join(part for part, _ in pieces(text)) == text
    assert [link.target for _, link in pieces(text) if link] == ["./c.md", "d", "./g.md", "./k.md"]


def test_a_tag_in_brackets_is_a_tag_and_no_link() -> None:
    note = read_note("a.md", "#[[Bike Repair]] (#[[two words]]) x#[[page]] #[[a]]\n`#[[no]]`")
    assert note.tags == ["a", "bike repair", "two words"]
    assert note.links == [WikiLink("page")]


@pytest.mark.parametrize("sign", ["**{}**", '"{}"', "[{}]", "due:{}", "==+{}", "'{}'", "{}."])
def test_a_tag_in_brackets_is_no_link_behind_any_sign(sign: str) -> None:
    note = read_note("a.md", f"Buy oil {sign.format('#[[two words]]')} [[a b]]")
    assert (note.tags, note.links) == (["two words"], [WikiLink("a b")])


def test_links_and_tags_in_comments_are_left_out() -> None:
    text = "[[a]] %%[[no]] #no%% [[b]]\n%%\n[[no]]\n\n[[no]]\n%%\n`%%` [[c]] #yes `%%` 100%% [[d]]"
    assert [link.target for link in wiki_links(text)] == ["a", "b", "c", "d"]
    assert inline_tags(text) == ["yes"]


def test_links_in_comments_of_html_are_left_out_where_they_end() -> None:
    text = "[[a]] <!-- [[no]]\n#no --> [[b]] `<!--` [[c]] <!--> [[no]] --> [[d]] <!-- [[e]]"
    assert [link.target for link in wiki_links(text)] == ["a", "b", "c", "d", "e"]
    assert inline_tags(text) == []


def test_comments_are_in_no_passage_and_no_title() -> None:
    told = {
        "Paid %%by Ida%% in May.": "Paid  in May.",
        "a <!-- b\n\n# C --> d": "a \n\n d",
        "%%\n# Private\n\n- x\n%%\n# Shown": "Shown",
        "<!-- a %% b --> c %% d": " c %% d",
        "%% a <!-- b %% c --> d": " c --> d",
        "a\r\n%% b\r\n%% c": "a\n\n c",
        "open %% one and <!-- two": "open %% one and <!-- two",
        "`%%` a `%%` `<!-- b -->`": "`%%` a `%%` `<!-- b -->`",
        "```\n%% a %%\n```": "```\n%% a %%\n```",
        "%%only%%": "",
    }
    found = {text: "\n".join(one.text for one in read_note("a.md", text).chunks) for text in told}
    assert found == told
    assert read_note("a.md", "%%\n# Private\n%%\n# Shown").title == "Shown"


def test_struck_out_text_is_removed_within_its_block_and_not_in_code() -> None:
    told = {
        "~~Old.~~ New.": " New.",
        "from the ~~north~~ south gate": "from the  south gate",
        "~~a\nb~~ c": "\n c",
        "- ~~a\n- b~~": "- ~~a\n- b~~",
        "~~a\n\nb~~": "~~a\n\nb~~",
        "`~~a~~` ~~`b`~~": "`~~a~~` ",
        "~~~\n~~a~~\n~~~\n~~b~~": "~~~\n~~a~~\n~~~\n",
        "\\~~a~~ a ~~ b ~~ c ~~d": "\\~~a~~ a ~~ b ~~ c ~~d",
    }
    assert {text: without_struck_out(text) for text in told} == told


def test_passages_stand_under_their_headings_and_keep_every_word() -> None:
    body = "intro\n\n# A\n\none\n\n## B\n\ntwo\n\n### Bare\n\n# C\n\nthree\n"
    assert [(chunk.heading, chunk.text) for chunk in chunk_note(body)] == [
        ("", "intro"),
        ("A", "one"),
        ("A > B", "two"),
        ("A > B", "Bare"),
        ("C", "three"),
    ]


def test_a_heading_within_code_is_no_heading() -> None:
    [chunk] = chunk_note("# A\n```\n# not a heading\n```\n")
    assert (chunk.heading, chunk.text) == ("A", "```\n# not a heading\n```")


def test_a_change_in_one_section_leaves_the_hashes_of_others() -> None:
    body = "\n".join(f"# S{i}\n\n{f'word{i} ' * 300}\n" for i in range(5))
    before = [chunk.text_hash for chunk in chunk_note(body)]
    after = [chunk.text_hash for chunk in chunk_note(body.replace("# S1\n", "# S1\n\nNew.\n"))]
    assert len(set(before) - set(after)) <= 4
    assert {*before[:2], *before[-4:]} <= set(after)


def many_sections(first: int, count: int, words: int) -> str:
    return "\n".join(
        f"# Part {n}\n\n{' '.join(f'w{n}x{m}' for m in range(words))}\n"
        for n in range(first, first + count)
    )


@pytest.mark.parametrize(("count", "words"), [(1_500, 12), (4_000, 3), (1_100, 25)])
@pytest.mark.parametrize("place", [0, 0.5])
def test_a_section_that_joins_more_than_a_thousand_changes_the_passages_around_it_alone(
    count: int, words: int, place: float
) -> None:
    body = many_sections(0, count, words)
    at = body.index(f"# Part {int(count * place)}\n")
    grown = body[:at] + "# New\n\nA section that was added.\n" + body[at:]
    before = [chunk.text_hash for chunk in chunk_note(body)]
    after = [chunk.text_hash for chunk in chunk_note(grown)]
    assert len(before) < count / 2
    assert len(set(after) - set(before)) <= 8


BOMBS = {
    "one line": "word " * 40_000,
    "no blank": "x" * 200_000,
    "brackets": "[" * 50_000,
    "links without end": "[[a|" * 50_000,
    "ideographs": "\u4e16" * 200_000,
    "punctuation": "!?" * 100_000,
    "backticks": "`" * 200_000,
    "unequal backticks": "".join("`" * i + " " for i in range(1, 600)),
    "fences": "```\n" * 50_000,
    "headings": "# a\nb\n" * 33_000,
    "bare headings": "# a\n" * 50_000,
    "nested lists": "\n".join("  " * i + "- x" for i in range(400)),
    "quotes": "> " * 100_000,
    "markdown links": "[a](" * 50_000,
    "markdown paths": "[a](((" + "b" * 199_000,
    "labels": "[a](<" * 40_000,
    "struck out": "~~a " * 50_000,
    "comments": "%%" * 99_999 + "%",
    "comments of HTML": "<!--" * 49_000 + "[[a]]",
    "comments of HTML that end": "<!---->" * 28_000,
    "underlines": "a\n=\n\n" * 40_000,
    "properties": "a:: b\n" * 33_000,
    "hashes": "#" * 200_000,
    "references": "[a][b]" * 20_000 + "\n[b]: c.md",
    "open references": "[b]: c.md\n" + "[a" * 100_000,
    "indented code": "a\n\n    b\n\n" * 20_000,
    "open comments": "<!-- " * 40_000,
    "closings": "%% <!--" + "-- >" * 50_000,
    "open front matter": "---\n" + "[" * 15_000,
    "rubbish": "".join(chr(i % 0x2000) for i in range(200_000)),
}


@pytest.mark.parametrize("name", BOMBS)
def test_markdown_bombs_become_bounded_passages_that_keep_the_text(name: str) -> None:
    text = BOMBS[name]
    note = read_note("a.md", text)
    assert all(weight(chunk.text) <= CHUNK_WEIGHT for chunk in note.chunks)
    assert len(note.chunks) <= 2 * weight(text) // CHUNK_WEIGHT + 1_000
    if "heading" not in name and "underline" not in name and name != "rubbish":
        kept = "".join("".join(chunk.text.split()) for chunk in note.chunks)
        assert kept == "".join(without_comments(text).split())


def test_deep_headings_have_a_bounded_path() -> None:
    deep = "\n".join(f"{'#' * level} {'long ' * 200}{level}" for level in range(1, 7))
    chunks = chunk_note(f"{deep}\n\ntext")
    assert all(len(chunk.heading) <= 1_000 for chunk in chunks)
    assert "text" in chunks[-1].text


def test_more_links_than_are_kept_are_refused_instead_of_left_out() -> None:
    with pytest.raises(OverfullError):
        read_note("a.md", "".join(f"[[a{i}]]" for i in range(5_001)))
