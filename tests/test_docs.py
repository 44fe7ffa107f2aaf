"""What the docs for maintainers name exists, and the overview stays short enough to be read."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCS = ("docs/architecture.md", "docs/internals.md", "CONTRIBUTING.md")
# A path in backticks that begins with a folder of the checkout.
NAMED = re.compile(
    r"`((?:engram|memories|conflicts|predictor|tests|docs|templates|benchmarks|clients)/[\w./]*)`"
)


@pytest.mark.parametrize("name", DOCS)
def test_every_path_that_is_named_exists(name: str) -> None:
    named = set(NAMED.findall((ROOT / name).read_text()))
    assert named
    assert not {path for path in named if not (ROOT / path).exists()}


def test_the_overview_is_three_screens() -> None:
    assert len((ROOT / "docs/architecture.md").read_text().splitlines()) <= 120
