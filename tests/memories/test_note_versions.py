"""Notes are written only over the version that the caller has read: `ETag` and `If-Match`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from tests.conftest import Caller, Tenant

PATH = "notes/work/billing.md"


def put(caller: Caller, content: str, **headers: str) -> Any:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return caller._send("put", PATH, {"content": content}, named)


def text(caller: Caller) -> str:
    return str(caller.get(PATH).json()["content"])


def test_the_tag_is_that_of_text_and_title(tenant: Tenant) -> None:
    created = put(tenant.agent, "one")
    assert created["ETag"] == tenant.agent.get(PATH)["ETag"]
    assert put(tenant.agent, "one")["ETag"] == created["ETag"]
    tenant.agent.post("memories", {"content": "Ole reads [[billing]] every Monday."})
    assert tenant.agent.get(PATH)["ETag"] == created["ETag"]
    changed = put(tenant.agent, "two")
    assert changed["ETag"] != created["ETag"]
    assert changed["ETag"] == tenant.agent.get(PATH)["ETag"]


def test_a_version_that_is_not_stored_any_more_is_not_written_over(tenant: Tenant) -> None:
    old = put(tenant.agent, "one")["ETag"]
    new = put(tenant.agent, "two", If_Match=old)["ETag"]
    for sent in ("three", "two"):  # also where the same text is stored by now
        refused = put(tenant.agent, sent, If_Match=old)
        assert (refused.status_code, refused.json()["type"]) == (
            412,
            "/problems/precondition-failed",
        )
    assert put(tenant.agent, "three", If_Match=f"W/{new}").status_code == 412  # a weak tag
    assert text(tenant.agent) == "two"
    assert put(tenant.agent, "three", If_Match=f'"other", {new}').status_code == 200
    assert put(tenant.agent, "four", If_Match="*").status_code == 200
    assert put(tenant.agent, "five").status_code == 200  # nothing is demanded


def test_a_note_that_was_deleted_and_written_anew_has_another_tag(tenant: Tenant) -> None:
    old = put(tenant.agent, "one")["ETag"]
    assert tenant.agent.delete(PATH).status_code == 204
    assert put(tenant.agent, "two", If_Match=old).status_code == 412
    assert put(tenant.agent, "two", If_Match="*").status_code == 412
    assert tenant.agent.get(PATH).status_code == 404
    assert put(tenant.agent, "one").status_code == 201
    assert put(tenant.agent, "two", If_Match=old).status_code == 412


def test_a_note_is_only_created_where_the_caller_says_so(tenant: Tenant) -> None:
    created = put(tenant.agent, "one", If_None_Match="*")
    assert created.status_code == 201
    for sent in ("one", "two"):
        assert put(tenant.agent, sent, If_None_Match="*").status_code == 412
    assert put(tenant.agent, "two", If_None_Match=f"W/{created['ETag']}").status_code == 412
    assert put(tenant.agent, "two", If_None_Match='"other"').status_code == 200


def test_a_version_that_is_not_stored_any_more_is_not_deleted(tenant: Tenant) -> None:
    old = put(tenant.agent, "one")["ETag"]
    new = put(tenant.agent, "two")["ETag"]
    assert tenant.agent.delete(PATH, **{"If-Match": old}).status_code == 412
    assert text(tenant.agent) == "two"
    assert tenant.agent.delete(PATH, **{"If-Match": new}).status_code == 204
    assert tenant.agent.delete(PATH, **{"If-Match": new}).status_code == 404


@pytest.mark.parametrize(
    "header", ["3", "", '"a', "W/", '*, "a"', '"a";"b"', '"' + "a" * 2000 + '"', '"ü"']
)
def test_a_header_that_names_no_version_is_refused(tenant: Tenant, header: str) -> None:
    for name in ("If-Match", "If-None-Match"):
        answer = put(tenant.agent, "one", **{name: header})
        assert answer.status_code == 422
        assert [error["field"] for error in answer.json()["errors"]] == [name]
    assert tenant.agent.get(PATH).status_code == 404


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("header", ["If-Match", "If-None-Match"])
def test_of_two_writers_of_one_version_exactly_one_wins(tenant: Tenant, header: str) -> None:
    tag = put(tenant.agent, "one")["ETag"] if header == "If-Match" else "*"

    def write(content: str) -> int:
        try:
            return int(put(tenant.agent, content, **{header: tag}).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        texts = [f"text {n}" for n in range(4)]
        codes = list(pool.map(write, texts))
    won = [sent for sent, code in zip(texts, codes, strict=True) if code in {200, 201}]
    assert sorted(codes)[1:] == [412] * 3
    assert [text(tenant.agent)] == won
