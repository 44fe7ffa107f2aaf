"""Calls every operation with all that its description allows, and more: no 5xx, no surprise.

`ENGRAM_FUZZ_EXAMPLES` sets how many examples an operation gets: a few in the test suite, many in
`make fuzz`.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
import schemathesis
from django.core.wsgi import get_wsgi_application
from hypothesis import HealthCheck, Phase, settings
from schemathesis.specs.openapi.checks import ignored_auth, positive_data_acceptance

from tests.conftest import House

EXAMPLES = int(os.environ.get("ENGRAM_FUZZ_EXAMPLES", "4"))
# What "unauthenticated" calls answer is tested route by route in tests/kernel/test_routes.py; a
# wrong body may name things of this workspace, so 404 and 409 are as right as 422.
LEFT_TO_OTHER_TESTS = [ignored_auth, positive_data_acceptance]


# The API as its own description tells it.
schema = schemathesis.openapi.from_wsgi("/api/v1/schema/?format=json", get_wsgi_application())


@pytest.mark.django_db(transaction=True)
@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize="ENGRAM_FUZZ_EXAMPLES" not in os.environ,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_every_operation_keeps_its_contract(case: Any, house: House) -> None:
    response = case.call(headers={"Authorization": f"Bearer {house.admin.token}"})
    case.validate_response(response, excluded_checks=LEFT_TO_OTHER_TESTS)
