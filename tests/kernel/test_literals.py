"""Numbers, moments and cursors in addresses: read or refused, on every list and page."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import cycle
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from drf_spectacular.generators import SchemaGenerator

from engram.kernel.literals import decimal_number, moment, whole_number
from engram.kernel.models import Membership, Role
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from tests.conftest import NOW, Tenant
from tests.kernel.test_routes import furnish

NUMBERS = [
    "000000001000", "0" * 5000, "9" * 400, "0" * 9 + "9" * 400, "9" * 5000, "1" + "0" * 19,
    "18446744073709551616", "9223372036854775807", "-1", "+1", "1_0", " 1", "1 ", "1.0", "1e2",
    "0x10", "١٢", "１２", "²", "NaN", "inf", "", "\x00", "1\n", "null", "true",
]  # fmt: skip
MOMENTS = [
    "0001-01-01T00:00:00+23:59", "0001-01-01T00:00:00Z", "0001-01-01", "0000-01-01T00:00:00Z",
    "9999-12-31T23:59:59-23:59", "9999-12-31T23:59:59.999999Z", "9999-12-31T24:00:00Z",
    "10000-01-01T00:00:00Z", "-0001-01-01T00:00:00Z", "2026-05-04T12:00:00+99:99",
    "2026-05-04T12:00:00+23:59", "2026-05-04T12:00:00-23:59:59", "2026-05-04T12:00:00",
    "2026-05-04T12:00:00 02:00", "٢٠٢٦-٠٥-٠٤T12:00:00Z", "２０２６-05-04T12:00:00Z", "2026-02-30",
    "2026-W01-1", "20260504T120000Z", "2026-05-04T12:00:00.1234567890123Z", "infinity",
    "-infinity", "now", "epoch", "9" * 400, "0" * 5000, "1_0", "", "\x00",
]  # fmt: skip


@pytest.fixture
def crowd(tenant: Tenant) -> Tenant:
    """Return a workspace with more memories than a page holds."""
    with in_workspace(tenant.workspace):
        Memory.objects.bulk_create(
            Memory(
                content=f"The crane of berth {n} was greased.",
                content_hash=f"{n:064}",
                provenance="user_stated",
                confidence=1.0,
                observed_at=NOW,
                created_at=NOW + timedelta(seconds=n),
                updated_at=NOW,
            )
            for n in range(205)
        )
    return tenant


def lists() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield each parameter of every GET that is a number, a moment or a cursor."""
    generator: Any = SchemaGenerator
    document: dict[str, Any] = generator().get_schema(request=None, public=True)
    for path, methods in document["paths"].items():
        for shape in methods.get("get", {}).get("parameters", []):
            kind = shape["schema"].get("format") or shape["schema"].get("type")
            is_cursor = shape["name"] == "cursor"
            if shape["in"] == "query" and (is_cursor or kind in {"integer", "number", "date-time"}):
                yield path.removeprefix("/api/v1/"), shape["name"], shape["schema"]


LISTS = list(lists())


def address(path: str, tenant: Tenant) -> str:
    """Return the path with ids of the tenant's own in it."""
    if "{" not in path:
        return path
    kinds = {"session_key": "session"}
    route = re.sub(r"{(\w+)}", lambda m: f"<{kinds.get(m[1], 'uuid')}:{m[1]}>", path)
    return furnish(tenant).fill(route)


def cursors() -> Iterator[str]:
    """Yield cursors of either kind, whole and broken."""
    for position in [*MOMENTS, *NUMBERS[::4]]:
        yield b64encode(urlencode({"p": position}).encode()).decode()
    for at in MOMENTS:
        for position in (f"1 {at} conflicts {'0' * 32}", f"{at} {at} {at} {at}", f"9 {at} x y"):
            yield b64encode(urlencode({"p": position}).encode()).decode()
    for more in ({"r": "1"}, {"o": "9" * 400}, {"o": "-1"}, {"r": "9" * 5000}, {"o": "1_0"}):
        yield b64encode(urlencode({"p": MOMENTS[0], **more}).encode()).decode()
    yield from ("", "=", "%00", "é", "A" * 5000)


def nasty(name: str, schema: dict[str, Any]) -> list[str]:
    if name == "cursor":
        return list(cursors())
    return MOMENTS if schema.get("format") == "date-time" else NUMBERS


def test_lists_of_every_kind_are_walked() -> None:
    names = {name for _, name, _ in LISTS}
    assert names >= {"limit", "offset", "cursor", "since", "until", "created_after", "weeks", "k"}
    assert len({path for path, _, _ in LISTS}) >= 15


@pytest.mark.parametrize(
    ("path", "name", "schema"), LISTS, ids=[f"{path}?{name}" for path, name, _ in LISTS]
)
def test_list_reads_or_refuses_what_is_asked(
    tenant: Tenant, path: str, name: str, schema: dict[str, Any]
) -> None:
    tenant.admin.client.raise_request_exception = False
    query = {"query": "crane"} if "why-not" in path else {}
    route = address(path, tenant)
    assert tenant.admin.get(route, query).status_code == 200
    for text in nasty(name, schema):
        answer = tenant.admin.get(route, {**query, name: text})
        # A single question, looked up as of a time before its answers, is not there.
        may_miss = {404} if (path, name) == ("questions/{question_id}", "as_of") else set()
        assert answer.status_code in {200, 422} | may_miss, (text, answer.content)
        rows = answer.json().get("results", []) if answer.status_code == 200 else []
        if name in {"limit", "k", "weeks", "offset"} and answer.status_code == 200:
            assert int(text) <= schema["maximum"], text
        assert len(rows) <= 200, text


@pytest.mark.parametrize("path", sorted({path for path, name, _ in LISTS if name == "limit"}))
def test_limit_with_zeros_in_front_is_no_way_around_it(tenant: Tenant, path: str) -> None:
    most = next(s["maximum"] for p, n, s in LISTS if (p, n) == (path, "limit"))
    answer = tenant.admin.get(address(path, tenant), {"limit": f"00000000{most + 1}"})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "limit")


def test_cursor_of_a_list_still_walks_all_of_it(crowd: Tenant) -> None:
    seen: list[str] = []
    page = crowd.reader.get("memories", {"limit": 100}).json()
    while page["next"]:
        seen += [row["id"] for row in page["results"]]
        page = crowd.reader.get(page["next"]).json()
    seen += [row["id"] for row in page["results"]]
    assert len(seen) == len(set(seen)) == 205
    back = crowd.reader.get(page["previous"]).json()["results"]
    assert [row["id"] for row in back] == seen[100:200]


@pytest.fixture
def person(tenant: Tenant) -> Client:
    user = User.objects.create_superuser("root-ish", password="x")
    Membership.objects.create(workspace=tenant.workspace, user=user, role=Role.ADMIN)
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def test_people_are_filtered_only_by_the_filters_of_their_list(person: Client) -> None:
    url = reverse("admin:auth_user_changelist")
    for query in ({"is_active__exact": "1"}, {"is_superuser__exact": "0"}):
        assert person.get(url, query).status_code == 200, query
    for name in ("password__startswith", "groups__id__exact"):
        assert person.get(url, {name: "1"}).status_code == 400, name


PAGES = ["dashboard", "gate", "detective", "replay", "inbox", "conflicts", "triage", "numbers"]


def test_pages_of_people_bear_every_number_and_moment(person: Client) -> None:
    names = ("page", "p", "days", "weeks", "item", "done", "card", "seen")
    for page, text in zip(cycle(PAGES), NUMBERS + MOMENTS, strict=False):
        answer = person.get(reverse(f"console:{page}"), dict.fromkeys(names, text))
        assert answer.status_code in {200, 400, 404}, (page, text)


@pytest.mark.parametrize("page", ["conflicts", "detective"])
def test_cursors_of_pages_are_read_or_left_out(person: Client, page: str) -> None:
    for at in MOMENTS[:12]:
        cursor = b64encode(urlencode({"p": at, "r": "1", "o": "9" * 30}).encode()).decode()
        answer = person.get(reverse(f"console:{page}"), {"cursor": cursor, "limit": at})
        assert answer.status_code == 200, at


LISTED = list(admin.site._registry)


@pytest.mark.parametrize("model", LISTED, ids=[model._meta.label for model in LISTED])
def test_admin_lists_bear_every_number_and_moment(person: Client, model: Any) -> None:
    url = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    moments = [
        field.name
        for field in model._meta.concrete_fields
        if field.get_internal_type() == "DateTimeField"
    ]
    asked = [("p", "9" * 400), ("p", "9" * 5000), ("p", "-1"), ("p", "١"), ("id", "9" * 30)]
    asked += [("pk__in", "1_0"), ("all", "١"), ("o", "²")]
    for field in moments[:1]:
        asked += [(field, MOMENTS[0]), (f"{field}__gte", MOMENTS[4]), (f"{field}__lt", "0" * 5000)]
        asked += [(f"{field}__year", "9" * 12), (f"{field}__gte", "infinity")]
    for name, text in asked:
        assert person.get(url, {name: text}).status_code in {200, 302, 400}, (name, text)
    assert admin.site._registry[model].list_max_show_all <= 200


def test_whole_numbers() -> None:
    assert [whole_number(text, least=0, most=200) for text in ("0", "007", "200")] == [0, 7, 200]
    for text in [*NUMBERS, "201", "000000001000"]:
        if text not in {"", "0" * 5000}:
            with pytest.raises(ValueError, match=r"."):
                whole_number(text, least=0, most=200)


def test_decimal_numbers() -> None:
    texts = {"0": 0.0, "1": 1.0, ".5": 0.5, "0.25": 0.25, "5e-324": 5e-324, "1E-2": 0.01}
    assert {text: decimal_number(text, least=0, most=1) for text in texts} == texts
    for text in (
        "",
        "1_0",
        " 1",
        "1\n",
        "nan",
        "inf",
        "1e400",
        "-0.1",
        "1.1",
        "٠.٥",
        "0" * 65,
        "x",
    ):
        with pytest.raises(ValueError, match=r"."):
            decimal_number(text, least=0, most=1)


@pytest.mark.parametrize(
    ("path", "name"),
    [("predictor/comparisons", "min_margin"), ("memories/{memory_id}/why-not", "min_score")],
)
def test_shares_in_addresses_are_read_alike(tenant: Tenant, path: str, name: str) -> None:
    more = {"query": "x"} if name == "min_score" else {}
    where = address(path, tenant)
    for text, status in (("0.5", 200), ("1", 200), ("1_0", 422), (" 0.5", 422), ("0.5\n", 422)):
        answer = tenant.admin.get(where, {name: text, **more})
        assert answer.status_code == status, text
    assert answer.json()["errors"] == [{"field": name, "message": "Must be a number from 0 to 1."}]


def test_moments() -> None:
    assert moment("2026-05-04T12:00:00") == datetime(2026, 5, 4, 12, tzinfo=UTC)
    assert moment("2026-05-04T12:00:00+23:59") == datetime(2026, 5, 3, 12, 1, tzinfo=UTC)
    for text in ("0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "٢٠٢٦-٠٥-٠٤", "", "now"):
        with pytest.raises(ValueError, match="moment"):
            moment(text)
