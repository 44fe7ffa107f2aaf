"""How many examples property tests draw: few and always the same, many and other ones to search.

`make fuzz` (`ENGRAM_FUZZ_EXAMPLES`) searches. An example of a state machine or of a call of the API
takes longer: they draw a part of as many.
"""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

EXAMPLES = 25
MACHINE_PART = 0.4
STEPS = 20
CALLS_PART = 0.2
SEARCH = os.environ.get("ENGRAM_FUZZ_EXAMPLES")

settings.register_profile(
    "suite",
    max_examples=int(SEARCH or EXAMPLES),
    derandomize=SEARCH is None,
    deadline=None,
    suppress_health_check=list(HealthCheck),  # they watch the clock
)
settings.load_profile("suite")


def calls() -> settings:
    """Return the settings of a test whose every example is a call of the API."""
    phases = [Phase.explicit, Phase.generate]
    return settings(max_examples=_part(CALLS_PART), phases=phases)


def run_machine(machine: Any) -> None:
    """Run a state machine; steps are not shrunk, because each is a round trip to the database."""
    drawn = settings(
        max_examples=_part(MACHINE_PART), stateful_step_count=STEPS, phases=[Phase.generate]
    )
    run_state_machine_as_test(machine, settings=drawn)


def _part(part: float) -> int:
    return max(1, int(settings.default.max_examples * part))
