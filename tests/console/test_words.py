"""Pages have one name for one thing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engram.console.event_fields import fields_of
from engram.console.settings_form import LABELS
from engram.console.settings_help import HELP
from engram.console.templatetags.console import state_words
from engram.console.wording import WORDS, words_for
from engram.kernel.models import Event
from memories.models import Kind, State

TEMPLATES = Path(__file__).parents[2] / "templates"
TAG = re.compile(r"\{%[^%]*%\}|\{\{[^}]*\}\}|<[^>]*>")
OF_THE_PREDICTOR = [
    *sorted((TEMPLATES / "console" / "learning").glob("*.html")),
    *sorted((TEMPLATES / "admin" / "predictor").rglob("*.html")),
]
# A model is a language model or an embedding model; the predictor has a learned ranking.
BARE = re.compile(r"(?<!language )(?<!embedding )\b(models?|rankers?)\b", re.IGNORECASE)


def words_of(template: Path) -> str:
    return TAG.sub(" ", template.read_text())


@pytest.mark.parametrize("template", OF_THE_PREDICTOR, ids=lambda path: path.name)
def test_pages_about_learning_call_the_learned_ranking_so(template: Path) -> None:
    assert BARE.findall(words_of(template)) == []


def test_settings_name_which_model_they_are_about() -> None:
    assert [label for label in LABELS.values() if BARE.search(label)] == []


# What only those know who built it; titles and help may say it.
OF_THE_MECHANISM = re.compile(
    r"\b(?:cosine|ridge|closed form|linear part|semantic|offline-\d)\b", re.IGNORECASE
)
SHOWN = sorted(TEMPLATES.rglob("*.html"))


@pytest.mark.parametrize("template", SHOWN, ids=lambda path: str(path.relative_to(TEMPLATES)))
def test_pages_need_no_knowledge_of_the_mechanism(template: Path) -> None:
    assert OF_THE_MECHANISM.findall(words_of(template)) == []


def test_what_the_janitor_hides_has_one_name() -> None:
    """The API calls it `culled`; people read one word everywhere."""
    assert State.CULLED.label == "Hidden"
    assert words_for("memory.culled", {}) == "Memory hidden"
    assert dict(fields_of(Event(type="janitor.ran", data={"culled": 2}))) == {"Hidden": "2"}
    assert state_words("culled") == "hidden"
    bare = re.compile(r"\bcull", re.IGNORECASE)
    assert [path.name for path in SHOWN if bare.search(words_of(path))] == []
    labels = [*WORDS.values(), *LABELS.values(), *HELP.values()]
    assert [label for label in labels if bare.search(label)] == []


# What pages write as a percentage (filter `percent`), and in no other way.
SHARE_OTHERWISE = re.compile(
    r"\{\{[^}|]*\b(?:confidence|importance|relevance|similarity|cosine|overall|share|chance)"
    r"(?:\|(?:floatformat|default)[^}]*)?\s*\}\}"
)


@pytest.mark.parametrize("template", SHOWN, ids=lambda path: str(path.relative_to(TEMPLATES)))
def test_shares_have_one_format(template: Path) -> None:
    found = SHARE_OTHERWISE.findall(template.read_text())
    typed = ["{{ now.confidence }}", "{{ now.importance }}"]  # of a form, in percent
    errors = ["{{ errors.confidence }}", "{{ errors.importance }}"]
    assert [one for one in found if one not in typed + errors] == []


def test_kinds_of_memories_are_plain_words() -> None:
    assert [str(label) for label in Kind.labels] == [
        "Fact", "Event", "Procedure", "Decision", "Constraint",
    ]  # fmt: skip
