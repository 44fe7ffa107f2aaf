"""Markdown as readers see it: without signs, in its lines; nothing else of the text is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.core.readable import readable, readable_pieces
from memories.core.wiki_links import WikiLink

SHOWN = [
    ("**Boats** leave at *ten*, ~~nine~~ __sharp__.", "Boats leave at ten, nine sharp."),
    ("***All*** of it", "All of it"),
    ("Kept at the desk ([[handbook/lost-property]]).", "Kept at the desk (lost-property)."),
    ("See [[a/b.md|the *plan*]] and [[pay#Retries]].", "See the *plan* and pay › Retries."),
    ("**See [[desk]]**, [the site](https://x.org/a_b)", "See desk, the site"),
    ("# Keeping\n\n- one\n  * two\n- [ ] open\n- [x] done\n1. first",
     "Keeping\n\n• one\n  • two\n☐ open\n☑ done\n1. first"),
    ("Keeping\n=====\n\n> [!note] Held\n> for us", "Keeping\n\nHeld\nfor us"),
    ("| day | hour |\n|---|:--|\n| Mon | `a|b` |", "day · hour\nMon · a|b"),
    ("```sh\nrm **/*.py # all\n```\n\nrun `ls *.py *.c`", "rm **/*.py # all\n\nrun ls *.py *.c"),
    ("Files *.py and 2 * 3 * 4, snake_case_name, 5 > 4", None),
    ("#tag, a - b, C# and <b>bold</b> & **", None),
    ("One\n\n---\n\n***\nTwo -- three\n-|", "One\n\n\nTwo -- three\n-|"),
]  # fmt: skip


@pytest.mark.parametrize(("markdown", "shown"), SHOWN)
def test_signs_of_formatting_go_and_other_signs_stay(markdown: str, shown: str | None) -> None:
    assert readable(markdown) == (markdown if shown is None else shown)


def test_links_are_pieces_with_what_they_link() -> None:
    assert readable_pieces("- **see** [[a/b|B]]!") == [
        ("• see ", None),
        ("B", WikiLink("a/b", label="B")),
        ("!", None),
    ]


@given(st.text(alphabet="ab *_`#[]()|\n~=->!x1.\x00\x01", max_size=120))
def test_no_letter_outside_of_links_is_lost(text: str) -> None:
    linked = any(piece.link for piece in readable_pieces(text))
    if not linked and not any(sign in text for sign in ("](", "```", "~~~", "[!")):
        kept = [sign for sign in readable(text) if sign in "ab1"]
        assert kept == [sign for sign in text if sign in "ab1"]
