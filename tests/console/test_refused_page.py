"""The page of what extraction left out: all that is stored of it, to keep, leave out, take back."""

from __future__ import annotations

import re
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.utils import timezone

from engram.kernel.tenancy import in_workspace
from memories.models import ExtractionRefusal
from memories.services.extraction import run
from memories.services.extraction.write import BORDERLINE_OF_JOB, REFUSALS_LISTED
from tests.conftest import Tenant
from tests.console.test_inbox import Member, page
from tests.console.test_inbox_refusals import live
from tests.statements import statements

REFUSED = "/console/refused/"
MANY = "".join(
    f"User: The spare <key> of house {n} is with Ole in the red shed.\nAgent: Fine.\n"
    for n in range(40)
)


def extract(tenant: Tenant, transcript: str) -> UUID:
    """Extract from a transcript; return its job."""
    sent = tenant.agent.post("memories/extract", {"transcript": transcript, "scope": "garden"})
    run.extract_turn(tenant.workspace.pk, clock=timezone.now, seconds=60, may_ask=False)
    return UUID(sent.json()["job"])


def decide(client: Client, refusal: UUID, answer: str) -> str:
    """Send a form of the page; return the page that it leads to."""
    sent = client.post(f"{REFUSED}{refusal}/", {"answer": answer, "back": REFUSED}, follow=True)
    assert sent.redirect_chain == [(REFUSED, 302)]
    return sent.content.decode()


def test_all_refusals_of_a_transcript_are_listed_in_its_order(
    tenant: Tenant, member: Member
) -> None:
    job = extract(tenant, MANY)
    client, address, shown = member("reviewer"), f"{REFUSED}?job={job}", list[str]()
    for _ in range(3):
        html = page(client, address)
        shown += re.findall(r'id="refused-([^"]*)"', html)
        following = re.search(r'rel="next" href="([^"]*)"', html)
        if following is None:
            break
        address = f"{REFUSED}{following[1]}".replace("&amp;", "&")
    with in_workspace(tenant.workspace):
        stored = ExtractionRefusal.objects.filter(job=job).order_by("position", "id")
        assert shown == [str(pk) for pk in stored.values_list("pk", flat=True)]
    assert len(shown) == REFUSALS_LISTED
    assert "The spare &lt;key&gt; of house" in html
    assert "are worth most are listed" in html


def test_the_inbox_says_how_many_others_there_are_and_leads_to_them(
    tenant: Tenant, member: Member
) -> None:
    job = extract(tenant, MANY)
    result = tenant.reviewer.get(f"jobs/{job}").json()["result"]
    refused = sum(result["reasons"].values())
    assert refused > REFUSALS_LISTED > BORDERLINE_OF_JOB
    html = page(member("reviewer"), "/console/inbox/?source=refusals")
    assert f"{refused - 1} other statements were left out" in html
    assert f'href="{REFUSED}?job={job}">{REFUSALS_LISTED - 1} of them are listed' in html


def test_one_that_nobody_is_asked_about_is_kept_and_taken_back(
    tenant: Tenant, member: Member
) -> None:
    extract(tenant, MANY)
    client, before = member("reviewer"), len(live(tenant))
    with in_workspace(tenant.workspace):
        row = ExtractionRefusal.objects.filter(is_borderline=False, text__contains="spare")[0]
    assert "Kept as a memory." in decide(client, row.pk, "keep")
    assert len(live(tenant)) == before + 1
    assert "Somebody has decided" in decide(client, row.pk, "leave_out")
    assert "Taken back" in decide(client, row.pk, "take_back")
    assert len(live(tenant)) == before
    assert "Left out." in decide(client, row.pk, "leave_out")
    assert client.post(f"{REFUSED}{row.pk}/", {"answer": "x"}).status_code == 404
    assert client.get(f"{REFUSED}{row.pk}/")["Location"] == REFUSED
    assert "There is no such refusal." in decide(client, uuid4(), "keep")


def test_what_was_forgotten_is_not_shown(tenant: Tenant, member: Member) -> None:
    extract(tenant, MANY)
    client = member("reviewer")
    with in_workspace(tenant.workspace):
        row = ExtractionRefusal.objects.filter(text__contains="spare")[0]
    decide(client, row.pk, "keep")
    with in_workspace(tenant.workspace):
        row.refresh_from_db()
    body = {"ids": [str(row.memory_id)], "confirm": True}
    assert tenant.reviewer.post("memories/forget", body).status_code == 200
    decide(client, row.pk, "take_back")
    html = page(client, f"{REFUSED}?job={row.job_id}")
    assert row.text.replace("<", "&lt;").replace(">", "&gt;") not in html


def test_only_reviewers_see_it(tenant: Tenant, neighbour: Tenant, member: Member) -> None:
    job = extract(tenant, MANY)
    reader = member("reader")
    assert reader.get(REFUSED).status_code == 403
    with in_workspace(tenant.workspace):
        row = ExtractionRefusal.objects.all()[0]
    assert reader.post(f"{REFUSED}{row.pk}/", {"answer": "keep"}).status_code == 403
    foreign = extract(neighbour, MANY)
    client = member("reviewer")
    assert "Nothing of this transcript is listed" in page(client, f"{REFUSED}?job={foreign}")
    assert 'id="refused-' in page(client, f"{REFUSED}?job={job}")


@pytest.mark.parametrize("query", ["", "?job=x", f"?job={UUID(int=1)}"])
def test_an_empty_list_says_why(tenant: Tenant, member: Member, query: str) -> None:
    html = page(member("reviewer"), REFUSED + query)
    assert ("Nothing was left out" in html) != ("Nothing of this transcript is listed" in html)


def test_a_long_list_takes_as_many_statements_as_a_short_one(
    tenant: Tenant, member: Member
) -> None:
    client = member("reviewer")
    extract(tenant, "User: The spare key of house 1 is with Ole in the shed.\nAgent: Fine.\n")
    page(client, REFUSED)
    with statements() as few:
        page(client, REFUSED)
    extract(tenant, MANY)
    with statements() as many:
        page(client, REFUSED)
    assert len(many) == len(few)


def test_the_list_says_which_statements_wait_in_the_inbox(tenant: Tenant, member: Member) -> None:
    extract(tenant, MANY)
    client = member("reviewer")
    with in_workspace(tenant.workspace):
        asked = ExtractionRefusal.objects.filter(is_borderline=True).order_by("-created_at", "-id")
        keys = [str(pk) for pk in asked.values_list("pk", flat=True)]
    assert keys
    html, address = page(client, REFUSED), f'href="/console/inbox/?item=refusals:{keys[0]}"'
    while address not in html:
        following = re.search(r'rel="next" href="([^"]*)"', html)
        assert following is not None
        html = page(client, f"{REFUSED}{following[1]}".replace("&amp;", "&"))
    assert html.count("Waits in the inbox") < html.count('id="refused-')
    assert address not in decide(client, UUID(keys[0]), "leave_out")
