"""What the docs name exists: paths, links, targets, commands, options; each curl line runs."""

import re
from functools import cache
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand

from tests.documented import (
    DOCUMENTS,
    FRAGMENTS,
    RUN,
    anchors,
    blocks,
    links,
    make_targets,
    manage_commands,
    read,
)
from tests.homes import SOURCE

ROOT = SOURCE
DOCS = ("docs/architecture.md", "docs/internals.md", "CONTRIBUTING.md")
# A path in backticks that begins with a folder of the checkout.
NAMED = re.compile(
    r"`((?:engram|memories|conflicts|predictor|tests|docs|templates|benchmarks|clients)/[\w./]*)`"
)
TARGET = re.compile(r"^([a-z-]+):", re.MULTILINE)


@pytest.mark.parametrize("name", DOCS)
def test_every_path_that_is_named_exists(name: str) -> None:
    named = set(NAMED.findall((ROOT / name).read_text()))
    assert named
    assert not {path for path in named if not (ROOT / path).exists()}


def test_the_overview_is_three_screens() -> None:
    assert len((ROOT / "docs/architecture.md").read_text().splitlines()) <= 120


def test_all_documents_are_found() -> None:
    assert {"README.md", "CONTRIBUTING.md", "docs/security.md", "docs/agents.md"} < set(DOCUMENTS)
    assert len(DOCUMENTS) > 20


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_link_leads_to_a_file_and_a_heading(document: str) -> None:
    folder = (ROOT / document).parent
    broken = []
    for path, anchor in links(document):
        target = folder / path if path else ROOT / document
        if not target.exists():
            broken.append(path)
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            broken.append(f"{path}#{anchor}")
    assert broken == []


def test_the_guide_for_operators_begins_with_its_contents() -> None:
    guide = "docs/operators.md"
    listed = [anchor for path, anchor in links(guide) if not path]
    headings = [line for line in read(guide).splitlines() if re.match("##+ ", line)]
    assert {*listed} == anchors(ROOT / guide) - {"for-operators"}
    assert len(listed) >= len(headings) > 20


def test_every_target_of_make_that_is_named_exists() -> None:
    targets = set(TARGET.findall((ROOT / "Makefile").read_text()))
    named = {target for document in DOCUMENTS for target in make_targets(document)}
    assert {"up", "test", "check"} <= named
    assert named <= targets


@cache
def options_of(name: str) -> frozenset[str]:
    """Return the options of a command of `manage.py`."""
    app = get_commands()[name]
    command = app if isinstance(app, BaseCommand) else load_command_class(app, name)
    parser = command.create_parser("manage.py", name)
    return frozenset(option for action in parser._actions for option in action.option_strings)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_command_and_option_that_is_named_exists(document: str) -> None:
    unknown = [
        (command.name, sorted(command.options))
        for command in manage_commands(document)
        if command.name not in get_commands() or not command.options <= options_of(command.name)
    ]
    assert unknown == []


def test_commands_are_found_in_the_documents() -> None:
    named = {command.name for document in DOCUMENTS for command in manage_commands(document)}
    assert {"create_key", "audit", "doctor", "train", "export_model"} <= named


def test_every_curl_command_runs_or_is_a_fragment_with_a_reason() -> None:
    lost = []
    for document in DOCUMENTS:
        run = {
            line
            for block in blocks(document)
            if document in RUN
            for line in block.text.splitlines()
        }
        lost += [
            (document, line)
            for line in read(document).splitlines()
            if "curl -" in line
            and line.strip() not in {one.strip() for one in run}
            and not any(name == document and part in line for name, part in FRAGMENTS)
        ]
    assert lost == []
    for name, part in FRAGMENTS:
        assert part in read(name)


def test_no_document_waits_a_fixed_time_for_background_work() -> None:
    """On a busy machine it would be too short: a loop asks until the answer is there."""
    waits = [
        (document, line)
        for document in DOCUMENTS
        for block in blocks(document)
        for line in block.text.splitlines()
        if line.strip().startswith("sleep ")
    ]
    assert waits == []


def test_the_readme_links_every_guide() -> None:
    linked = {Path(path).as_posix() for path, _ in links("README.md")}
    guides = {name for name in DOCUMENTS if name.startswith("docs/")}
    assert guides <= linked
