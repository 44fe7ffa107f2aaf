"""The list of rules: each has an id of its own, says what it means and names the code."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from conflicts.core.rules import one_sentence, registry
from conflicts.core.rules.registry import RULES, rule_of
from conflicts.core.rules.rule import Rule
from conflicts.models import Conflict
from memories.core import contradictions
from memories.core.cases import Contradiction, build_case
from memories.core.contradictions.registry import TEXT_RULES
from memories.core.reading import read

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs" / "rules.md"


def test_ids_are_unique_and_fit_on_a_card() -> None:
    ids = [rule.id for rule in RULES]
    assert len(set(ids)) == len(ids)
    for name in ("rule", "further_rules"):
        field = Conflict._meta.get_field(name)
        assert max(map(len, ids)) <= getattr(field, "base_field", field).max_length


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_each_says_in_one_line_what_it_means_and_where_it_is_decided(rule: Rule) -> None:
    assert rule.meaning[0].isupper()
    assert rule.meaning.endswith(".")
    assert "\n" not in rule.meaning
    importlib.import_module(rule.module)
    assert (ROOT / rule.path).is_file()


_NO_RULES = {"__init__", "rule", "registry", "pair", "one_sentence", "reported", "other_things"}


def test_every_module_of_a_rule_is_in_the_list() -> None:
    modules = {path.stem for path in Path(registry.__file__).parent.glob("*.py")}
    listed = {rule.module.rpartition(".")[2] for rule in RULES if ".core.rules." in rule.module}
    assert modules - _NO_RULES == listed


def test_every_module_that_compares_claims_decides_a_rule() -> None:
    modules = {path.stem for path in Path(contradictions.__file__).parent.glob("*.py")}
    listed = {rule.module.rpartition(".")[2] for rule in one_sentence.RULES.values()}
    assert modules - {"__init__", "registry"} == listed


@pytest.mark.parametrize(("way", "rule"), one_sentence.RULES.items(), ids=list(one_sentence.RULES))
def test_the_module_that_a_rule_names_decides_its_example(way: Contradiction, rule: Rule) -> None:
    older, newer = (read(text) for text in rule.example)
    module = importlib.import_module(rule.module)
    if module.find in TEXT_RULES:
        found = [module.find(older, newer)]
    else:
        found = [module.find(build_case(a, b)) for a in older.claims for b in newer.claims]
    assert way in {reading.contradiction for reading in found if reading is not None}


def test_every_way_of_contradicting_has_a_rule() -> None:
    assert {f"ambiguity.{way}" for way in Contradiction.__args__} <= {rule.id for rule in RULES}


def test_an_id_that_left_the_list_is_still_named() -> None:
    assert rule_of("ambiguity.moon-phase").id == "ambiguity.moon-phase"
    assert rule_of(RULES[0].id) is RULES[0]


def row(rule: Rule) -> str:
    """Return a rule as the documentation lists it."""
    example = " · ".join(rule.shown_example) or "–"
    return f"| `{rule.id}` | {rule.meaning} | {example} | [{rule.path}](../{rule.path}) |"


def test_the_documentation_lists_just_these_rules() -> None:
    listed = [line for line in DOCS.read_text().splitlines() if line.startswith("| `")]
    assert listed == [row(rule) for rule in RULES]
