"""Different names for one slot."""

from __future__ import annotations

import pytest

from conflicts.core.rules.other_name import RULE
from tests.conflicts.rules.stories import rules_of


@pytest.mark.parametrize(
    "statements",
    [
        (
            "Firmware images of the meter are kept in Artifactory, one folder a release.",
            "Meter firmware images are stored in Nexus.",
        ),
    ],
)
def test_another_name_is_found(statements: tuple[str, ...]) -> None:
    assert rules_of(*statements) == [(RULE.id,)]


@pytest.mark.parametrize(
    "statements",
    [
        (
            "The robot's cache is stored in Redis.",
            "Artefacts of the robot are stored in MinIO.",
        ),
        (
            "Meter firmware images are stored in Nexus.",
            "Meter firmware images in Nexus are kept under the releases folder in Cologne.",
        ),
    ],
)
def test_another_thing_and_the_same_name_are_not(statements: tuple[str, ...]) -> None:
    assert rules_of(*statements) == []
