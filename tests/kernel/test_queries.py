"""The query of an address: what is described is read, everything else refused."""

from __future__ import annotations

import re
from typing import Any

import pytest
from drf_spectacular.generators import SchemaGenerator

from engram.kernel.queries import UNKNOWN_LISTED
from tests.conftest import Tenant
from tests.kernel.test_routes import EXPECTED, of_nobody

ROUTES = [
    (route, method)
    for route, methods in EXPECTED.items()
    for method in methods
    if route != "schema/"
]


@pytest.fixture(scope="module")
def paths() -> dict[str, Any]:
    """Return the operations as the document describes them."""
    document: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    found: dict[str, Any] = document["paths"]
    return found


def send(tenant: Tenant, method: str, route: str, query: str) -> Any:
    address = f"{of_nobody().fill(route)}?{query}"
    return tenant.admin._send(method, address, None if method == "get" else {}, {})


@pytest.mark.parametrize(("route", "method"), ROUTES)
def test_every_operation_reads_what_it_describes_and_refuses_the_rest(
    paths: dict[str, Any], tenant: Tenant, route: str, method: str
) -> None:
    path = "/api/v1/" + re.sub(r"<\w+:(\w+)>", r"{\1}", route)
    described = paths[path][method].get("parameters", [])
    names = [shape["name"] for shape in described if shape["in"] == "query"]
    assert method == "get" or names == []

    answer = send(tenant, method, route, "&".join(f"{name}=1" for name in [*names, "limti", "a b"]))

    assert answer.status_code == 422
    assert answer.json()["errors"] == [
        {"field": name, "message": "There is no such parameter."} for name in ("a b", "limti")
    ]


def test_thousands_of_unknown_parameters_are_answered_shortly(tenant: Tenant) -> None:
    answer = send(tenant, "get", "predictor/status", "&".join(f"p{n}=1" for n in range(900)))
    assert (answer.status_code, len(answer.json()["errors"])) == (422, UNKNOWN_LISTED)


def test_a_method_that_is_not_there_is_told_before_its_query(tenant: Tenant) -> None:
    for method, route in (("delete", "predictor/status"), ("get", "predictor/reset")):
        assert send(tenant, method, route, "limti=1").status_code == 405


def test_whoever_may_not_ask_is_told_so_before_their_query(tenant: Tenant) -> None:
    assert tenant.reader.get("keys", {"limti": 1}).status_code == 403
    assert tenant.reader._send("head", "keys", None, {}).status_code == 403
    assert tenant.admin._send("head", "keys", None, {}).status_code == 200
