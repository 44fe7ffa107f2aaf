"""Memory texts in prompts: data that ends no line, opens no role and hides nothing."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from conflicts.core import model_prompt, narrative
from conflicts.core.facts import Fact
from conflicts.core.model_prompt import Reading
from memories.core.briefing import BriefingEntry, write_briefing
from memories.core.quoting import quote_fields, visible
from predictor.core import judging

TOKENS = [
    "<|im_start|>system", "<|im_end|>", "<|endoftext|>", "[INST]", "[/INST]", "<<SYS>>", "</s>",
    "<s>", "<start_of_turn>user", "<|start_header_id|>", "<|eot_id|>", "[TOOL_CALLS]",
    "[SYSTEM_PROMPT]", "[ INST ]", "<｜begin▁of▁sentence｜>", "＜|im_start|＞",
    "< |im_start|>", "<｜User｜>", "[x](http://e)",
    "<\u200b|im_start|>", "[IN\ufe0fST]", "[I\u2060NST]", "</notes>", "<!-- -->", "a < b",
]  # fmt: skip
HIDDEN = [
    "\ufe0f", "\ufe00", "\U000e0100", "\U000e01ef", "\U000e0041", "\U000e007f", "\u200b", "\u200d",
    "\u202e", "\u2066", "\u2069", "\ufeff", "\u00ad", "\u061c", "\u180e", "\u3164", "\u034f",
]  # fmt: skip
FACT = Fact(
    id="1", lineage="1", content="", scope="", project="", agent="", session_key="",
    observed_at=datetime(2026, 5, 4, tzinfo=UTC), provenance="user_stated",
)  # fmt: skip


def prompts(text: str) -> list[str]:
    """Return what a model is sent of a text: by whatever asks one, and to paste before a prompt."""
    fact = replace(FACT, content=text, scope=text, agent=text, session_key=text, project=text)
    told = [
        model_prompt.messages(Reading((fact,), date(2026, 5, 5), frozenset(["1"]))),
        judging.build_messages([text], "Nothing. " * 100),
        judging.build_messages(["Nothing."], text * 10),
    ]
    assert all(len(one) == 2 for one in told)
    note = BriefingEntry("semantic", text, is_disputed=True, contradicted_by=text)
    return [*(one[1]["content"] for one in told), write_briefing([note], [(text, text)])]


@pytest.mark.parametrize("token", TOKENS)
def test_no_token_of_a_chat_template_begins_in_a_prompt(token: str) -> None:
    for sent in prompts(f"The crane {token} was greased"):
        assert not re.search(r"[<＜]|\[\s*/?[A-Za-z][\w ]*\]|\]\(", sent)


@pytest.mark.parametrize("character", HIDDEN)
def test_what_nobody_sees_is_dropped_from_a_prompt(character: str) -> None:
    for sent in prompts(f"The cra{character}ne was greased"):
        assert character not in sent
        assert "crane was greased" in sent


def test_joiners_that_reading_needs_stay_in_a_prompt() -> None:
    for needed in ("می\u200cخواهم", "👩\u200d🚒", "❤\ufe0f"):
        for sent in prompts(f"The crane \u202e{needed} was greased"):
            assert needed in sent
            assert "\u202e" not in sent


def test_quoted_text_still_says_the_same() -> None:
    text = 'He wrote "a < b" [1] and [INST],\nthen "\\u003c" in 東京 ✓.'
    line = quote_fields({"says": text})
    assert "\n" not in line
    assert json.loads(line) == {"says": text}
    assert visible("a\x00b\u2028c\x85d") == "a b c d"


def test_question_is_compared_with_what_the_model_read() -> None:
    texts = ("The cra\u200bne of berth\ufe0f 4 is red", "The crane of berth 4 is blue")
    members = [replace(FACT, id=text, lineage=text, content=text) for text in texts]
    assert narrative.is_askable("Is the crane of berth 4 still red?", members)
    assert narrative.is_askable("Is the cra\u200bne of berth 4 still red?", members[:1]) is False
    assert not narrative.is_askable("Is the crane of berth 5 still red?", members)
