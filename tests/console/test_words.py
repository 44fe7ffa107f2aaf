"""Pages have one name for one thing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engram.console.settings_form import LABELS

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
