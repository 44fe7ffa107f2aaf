"""Calls every operation with all that its description allows, and more: no 5xx, no surprise."""

from __future__ import annotations

import re
from typing import Any

import pytest
import schemathesis
from django.core.wsgi import get_wsgi_application
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import ignored_auth, positive_data_acceptance

from engram.kernel.preconditions import HEADER_MAX_CHARS, HEADER_PATTERN, IF_MATCH, IF_NONE_MATCH
from tests.conftest import Tenant
from tests.properties import calls

# What "unauthenticated" calls answer is tested route by route in tests/kernel/test_routes.py. That
# valid calls are taken is checked below: 422 is right when only the clock or the store can tell.
LEFT_TO_OTHER_TESTS = [ignored_auth, positive_data_acceptance]
ONLY_THE_CLOCK_OR_THE_STORE_CAN_TELL = {
    "": "fields that go together",
    "action": "what the thing named allows",
    "after": "a cursor",
    "agent": "or a session, or a key",
    "answer": "goes with one verdict",
    "answers.answer": "of visible characters, not the question, one to a question",
    "answers.question": "of visible characters",
    "answers.was": "not the answer",
    "as_of": "in the past",
    "assignee": "a member of the workspace",
    "content": "of visible characters",
    "created_after": "a time that exists",
    "created_before": "a time that exists",
    "cursor": "of this list",
    "derived_from": "stored memories",
    "expires_at": "to come",
    "graph": "not with as_of",
    "ids": "together with a query",
    "keep": "members of the card",
    "kinds": "a list of words in one query parameter",
    "label": "or unsure",
    "language_model": "one that the installation offers",
    "limit": "written without a fraction: 8.0 is an integer to JSON Schema",
    "memory_ids": "stored memories, two at least",
    "metadata": "bounded in bytes",
    "missing": "of visible characters",
    "muted_rules": "names of rules",
    "note_version": "goes with a path",
    "observation_id": "of this memory",
    "observed_at": "in the past",
    "path": "one that a note may have",
    "provenance_ceiling": "at most what the role may claim",
    "query": "together with ids",
    "rule": "a muted one",
    "scope": "printable",
    "session_key": "what addresses can tell from their own words",
    "since": "a time that exists",
    "source": "of visible characters",
    "split": "goes with one answer",
    "supersedes": "a stored memory",
    "slug": "of the workspace",
    "tags": "of visible characters",
    "task": "of visible characters",
    "text": "of visible characters",
    "time_zone": "one that exists",
    "ttl_seconds": "together with expires_at",
    "until": "to come",
    "url": "of a public address",
    "used": "memories that the session was given",
    "updated_since": "a time that exists",
    "verdict": "goes with what it keeps",
    "weeks": "or since",
    "wrong": "memories that the session was given",
}


def headers_against_their_pattern(case: Any) -> set[str]:
    """Return the preconditions of a call that are not as described.

    The generator does not keep to the patterns of headers in all that it calls valid.
    """
    sent = {name: case.headers[name] for name in (IF_MATCH, IF_NONE_MATCH) if name in case.headers}
    return {
        name
        for name, value in sent.items()
        if len(value) > HEADER_MAX_CHARS or not re.fullmatch(HEADER_PATTERN, value)
    }


# The API as its own description tells it.
schema = schemathesis.openapi.from_wsgi("/api/v1/schema/?format=json", get_wsgi_application())
schema.config.generation.update(allow_x00=False)  # refused with 400, which no schema can say


@pytest.mark.searches
@pytest.mark.django_db(transaction=True)
@schema.parametrize()
@calls()
def test_every_operation_keeps_its_contract(case: Any, tenant: Tenant) -> None:
    response = case.call(headers={"Authorization": f"Bearer {tenant.admin.token}"})
    case.validate_response(response, excluded_checks=LEFT_TO_OTHER_TESTS)
    if case.meta.generation.mode is GenerationMode.POSITIVE:
        is_too_large = "A number is too large." in response.text  # 1e400 is JSON, and no number
        assert response.status_code != 400 or is_too_large, response.text
        if response.status_code == 422:
            named = {
                re.sub(r"(^|\.)\d+(?=\.|$)", "", error["field"].removeprefix("memories.")).strip(
                    "."
                )
                for error in response.json()["errors"]
            }
            known = {*ONLY_THE_CLOCK_OR_THE_STORE_CAN_TELL, *headers_against_their_pattern(case)}
            assert named <= known, response.text
