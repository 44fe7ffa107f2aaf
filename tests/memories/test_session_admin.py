"""Sessions in the admin: read, never edited; what is hidden shows no text."""

from __future__ import annotations

from collections.abc import Callable

from django.test import Client

from engram.kernel.models import Event
from engram.kernel.tenancy import in_workspace
from memories.models import ExtractedQuote, Session, SessionCandidate
from memories.services.lifecycle.erase import erase
from memories.services.lifecycle.forget import forget
from memories.services.sessions.end import end_session
from memories.services.sessions.withheld import WITHHELD
from tests.conftest import NOW, Tenant
from tests.memories.session_world import AGENT, begin, remember

Member = Callable[[str], Client]
SESSIONS = "/admin/memories/session/"


def talk_of(tenant: Tenant, transcript: str) -> str:
    """Have one session with a transcript; return the address of its page."""
    begin(tenant, "talk", context="pets")
    end_session(tenant.workspace, "talk", transcript, actor=AGENT, now=NOW)
    with in_workspace(tenant.workspace):
        return f"{SESSIONS}{Session.objects.get().pk}/change/"


def test_the_list_shows_sessions_of_this_workspace(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    begin(neighbour, "their talk")
    begin(tenant, "our <b>talk</b>", project="clay")
    begin(tenant, "over")
    end_session(tenant.workspace, "over", "secret words", actor=AGENT, now=NOW)
    client = member("reader")
    html = client.get(SESSIONS).content.decode()
    assert "our &lt;b&gt;talk&lt;/b&gt;" in html
    assert "clay" in html
    assert "their talk" not in html
    assert "secret words" not in html
    ended = client.get(SESSIONS, {"state": "ended"}).content.decode()
    assert "over" in ended
    assert "clay" not in ended
    assert client.post(f"{SESSIONS}add/").status_code == 403


def test_a_session_shows_its_records_without_what_is_hidden(tenant: Tenant, member: Member) -> None:
    kept = remember(tenant, "The office dog is called <i>Biscuit</i>.")
    gone = remember(tenant, "The office cat is called Crumb.")
    begin(tenant, "talk", context="pets")
    forget(tenant.workspace, [gone], actor=AGENT, now=NOW)
    end_session(tenant.workspace, "talk", "secret words", actor=AGENT, now=NOW)
    with in_workspace(tenant.workspace):
        page = f"{SESSIONS}{Session.objects.get().pk}/change/"
    html = member("reader").get(page).content.decode()
    assert "&lt;i&gt;Biscuit&lt;/i&gt;" in html
    assert str(kept) in html
    assert "Crumb" not in html
    assert "No longer recalled" in html
    assert "secret words" not in html
    assert member("reviewer").post(page).status_code == 403


def test_the_feedback_of_an_agent_is_in_words_and_scores_have_one_format(
    tenant: Tenant, member: Member
) -> None:
    remember(tenant, "The office dog is called Biscuit.")
    begin(tenant, "talk", context="pets")
    with in_workspace(tenant.workspace):
        page = f"{SESSIONS}{Session.objects.get().pk}/change/"
        SessionCandidate.objects.update(feedback=-1.0, final_score=0.07692)
    html = member("reader").get(page).content.decode()
    assert "misled (−1)" in html
    assert ">0.077<" in html


def test_reviewers_read_the_end_of_a_transcript(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    remember(tenant, "The office dog is called Biscuit.")
    begin(tenant, "talk", context="pets")
    said = f"The beginning. {'We talk. ' * 3_000}<b>The end.</b>"
    end_session(tenant.workspace, "talk", said, actor=AGENT, now=NOW)
    with in_workspace(tenant.workspace):
        page = f"{SESSIONS}{Session.objects.get().pk}/change/"
    html = member("reviewer").get(page).content.decode()
    assert "&lt;b&gt;The end.&lt;/b&gt;" in html
    assert "The beginning" not in html
    assert f"of the transcript the last 20000 of {len(said)} characters" in html
    for role in ("reader", "agent"):
        html = member(role).get(page).content.decode()
        assert "Prompts and transcripts are shown to the role reviewer." in html
        assert "The end." not in html


def test_a_transcript_that_may_quote_a_forgotten_memory_is_not_shown(
    tenant: Tenant, member: Member
) -> None:
    gone = remember(tenant, "The office cat is called Crumb.")
    remember(tenant, "The office dog is called Biscuit.")
    page = talk_of(tenant, "They spoke of Crumb.")
    client = member("admin")
    assert "They spoke of Crumb." in client.get(page).content.decode()
    forget(tenant.workspace, [gone], actor=AGENT, now=NOW)
    html = client.get(page).content.decode()
    assert "Crumb" not in html
    assert WITHHELD in html


def test_a_memory_that_was_only_considered_or_erased_elsewhere_withholds_nothing(
    tenant: Tenant, member: Member
) -> None:
    gone = remember(tenant, "The office cat is called Crumb.")
    other = remember(tenant, "The office bird is called Pip.")
    remember(tenant, "The office dog is called Biscuit.")
    page = talk_of(tenant, "They spoke of Biscuit.")
    with in_workspace(tenant.workspace):
        hidden = SessionCandidate.objects.filter(memory__in=[gone, other])
        hidden.update(was_injected=False, fts_hit_count=0)
    forget(tenant.workspace, [gone], actor=AGENT, now=NOW)
    erase(tenant.workspace, other, actor=AGENT, now=NOW)
    client = member("admin")
    assert "They spoke of Biscuit." in client.get(page).content.decode()
    with in_workspace(tenant.workspace):
        SessionCandidate.objects.filter(memory=gone).update(fts_hit_count=1)
    assert WITHHELD in client.get(page).content.decode()


def test_a_transcript_of_a_session_that_was_given_an_erased_memory_is_not_shown(
    tenant: Tenant, member: Member
) -> None:
    gone = remember(tenant, "The office cat is called Crumb.")
    page = talk_of(tenant, "They spoke of Crumb.")
    client = member("admin")
    assert "They spoke of Crumb." in client.get(page).content.decode()
    erase(tenant.workspace, gone, actor=AGENT, now=NOW)
    html = client.get(page).content.decode()
    assert "Crumb" not in html
    assert WITHHELD in html


def test_a_transcript_of_which_a_forgotten_memory_was_made_is_not_shown(
    tenant: Tenant, member: Member
) -> None:
    remember(tenant, "The office dog is called Biscuit.")
    for key in ("talk", "other talk"):
        begin(tenant, key, context="pets")
        end_session(tenant.workspace, key, "They got a bird.", actor=AGENT, now=NOW)
    made = remember(tenant, "The office bird is called Pip.")
    with in_workspace(tenant.workspace):
        ExtractedQuote.objects.create(memory_id=made, session_key="talk", text="They got a bird.")
        pages = {one.session_key: f"{SESSIONS}{one.pk}/change/" for one in Session.objects.all()}
    forget(tenant.workspace, [made], actor=AGENT, now=NOW)
    client = member("admin")
    assert WITHHELD in client.get(pages["talk"]).content.decode()
    assert "They got a bird." in client.get(pages["other talk"]).content.decode()


def test_admins_delete_sessions(tenant: Tenant, neighbour: Tenant, member: Member) -> None:
    for each in (tenant, neighbour):
        begin(each, "first talk")
        begin(each, "second talk")
    with in_workspace(tenant.workspace):
        gone = Session.objects.get(session_key="first talk").pk
    chosen = {"action": "delete_sessions", "_selected_action": [str(gone)]}
    for role in ("reader", "reviewer"):
        assert member(role).post(SESSIONS, chosen).status_code == 403
    client = member("admin")
    html = client.post(SESSIONS, chosen).content.decode()
    assert "Delete 1 session?" in html
    assert "first talk" in html
    assert "second talk" not in html
    told = client.post(SESSIONS, chosen | {"confirmed": "yes"}, follow=True).content.decode()
    assert "1 session deleted." in told
    for each, left in ((tenant, 1), (neighbour, 2)):
        with in_workspace(each.workspace):
            assert Session.objects.count() == left
            assert Event.objects.filter(type="session.deleted").count() == 2 - left
    with in_workspace(tenant.workspace):
        assert Event.objects.get(type="session.deleted").actor_label == "admin-person"


def test_places_are_counted_as_comparisons_count_them(tenant: Tenant, member: Member) -> None:
    for text in ("The dog is called Biscuit.", "The cat is called Crumb.", "Pets stay outside."):
        remember(tenant, text)
    begin(tenant, "talk", context="pets")
    with in_workspace(tenant.workspace):
        page = f"{SESSIONS}{Session.objects.get().pk}/change/"
        first, *_ = SessionCandidate.objects.order_by("baseline_rank")
        SessionCandidate.objects.filter(pk=first.pk).update(is_always=True, was_injected=False)
    html = " ".join(member("reader").get(page).content.decode().split())
    places = [one.partition("<")[0] for one in html.split('data-label="by the baseline">')[1:]]
    assert sorted(places) == ["1", "2", "–"]
    assert "always, no room left" in html
