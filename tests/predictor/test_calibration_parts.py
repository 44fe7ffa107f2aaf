"""People who check a judge read what it read of the transcript, and are told where that differs."""

from __future__ import annotations

import json
from html import escape
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.utils import timezone

from engram.kernel.actors import SYSTEM
from engram.kernel.tenancy import in_workspace
from memories.models import Session
from memories.services.lifecycle.erase import erase
from predictor.core import talk
from predictor.core.judging import MODEL_CHARS, OFFLINE_CHARS, PROMPT_VERSION, build_messages
from predictor.models import Judgement
from predictor.services.calibration.calibrate import sample, sample_of
from predictor.services.judging.parts import CHANGED, LIVED, READ, WHOLE, JudgedPart, read_parts
from predictor.services.judging.pool import read_pool
from tests.conftest import NOW, Tenant
from tests.predictor.calibration_world import judged_world
from tests.predictor.judged_sessions import STORY, begin, commit, commit_story, end, judge_all

SMALL_TALK = "User: the train was late again this morning.\nAssistant: sorry to hear that.\n"
LONG = SMALL_TALK * 30 + STORY.transcript + "\n" + SMALL_TALK * 400


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect what the judge without a model reads of transcripts."""
    found: list[str] = []
    real = talk.offline_part

    def noting(*given: Any, **more: Any) -> str:
        found.append(real(*given, **more))
        return found[-1]

    monkeypatch.setattr(talk, "offline_part", noting)
    return found


def judged(tenant: Tenant, transcript: str = LONG) -> Session:
    commit_story(tenant)
    begin(tenant)
    session = end(tenant, transcript=transcript)
    assert judge_all(tenant) == [session.pk]
    return session


def part_of(tenant: Tenant, session: Session) -> JudgedPart:
    with in_workspace(tenant.workspace):
        return read_parts([Session.objects.get(pk=session.pk)])[session.pk]


def change(tenant: Tenant, session: Session, **fields: Any) -> None:
    with in_workspace(tenant.workspace):
        assert Judgement.objects.filter(session=session).update(**fields) == 1


def test_people_read_what_the_judge_read_and_not_the_end(tenant: Tenant, read: list[str]) -> None:
    session = judged(tenant)

    part = part_of(tenant, session)

    assert (part.text, part.is_as_judged, part.words) == (read[0], True, READ)
    assert len(part.text) <= OFFLINE_CHARS < len(LONG)
    said = STORY.transcript.split("\n")[1][:80]
    assert said in part.text
    assert said not in LONG[-MODEL_CHARS:]
    assert "[…]" in part.text


def test_of_a_model_people_read_what_was_asked_about(tenant: Tenant) -> None:
    session = judged(tenant)
    with in_workspace(tenant.workspace):
        pool = read_pool(session.pk)
    assert pool is not None
    asked = pool.for_model()
    change(tenant, session, kind="model", version=PROMPT_VERSION, memory_ids=list(asked.ids))

    part = part_of(tenant, session)

    _, user = build_messages(asked.contents, LONG)
    conversation = json.loads(user["content"].split("\n")[-1])["conversation"]
    assert (part.text, part.is_as_judged) == (conversation, True)
    assert OFFLINE_CHARS < len(part.text) <= MODEL_CHARS


@pytest.mark.parametrize("kind", ["offline", "model"])
def test_a_judge_of_other_rules_may_have_read_another_part(tenant: Tenant, kind: str) -> None:
    session = judged(tenant)
    change(tenant, session, kind=kind, version=f"{kind} of before")

    part = part_of(tenant, session)

    assert (part.is_as_judged, part.words) == (False, CHANGED)
    assert part.text


def test_without_a_memory_that_was_judged_the_part_is_not_known(tenant: Tenant) -> None:
    gone = commit(tenant, "A lemon tree wants more light than a fern.")
    session = judged(tenant)
    erase(tenant.workspace, gone, actor=SYSTEM, now=NOW)

    part = part_of(tenant, session)

    assert (part.is_as_judged, part.words) == (False, CHANGED)
    assert part.text


def test_an_agent_that_rates_has_read_no_part(tenant: Tenant) -> None:
    session = judged(tenant)
    change(tenant, session, kind="agent", version="agent-1")

    part = part_of(tenant, session)

    assert (part.is_as_judged, part.words) == (False, LIVED)


def test_a_short_transcript_is_read_whole(tenant: Tenant) -> None:
    session = judged(tenant, STORY.transcript)
    change(tenant, session, version="offline-1")

    part = part_of(tenant, session)

    assert (part.text, part.is_as_judged, part.words) == (STORY.transcript.strip(), True, WHOLE)


def test_a_pasted_list_that_the_judge_leaves_out_is_a_marked_gap(
    tenant: Tenant, read: list[str]
) -> None:
    notes = "\n".join(f"- {content}" for content, _ in STORY.memories)
    session = judged(tenant, f"User: what you know:\n{notes}\n{STORY.transcript}")

    part = part_of(tenant, session)

    assert STORY.memories[0][0] not in part.text
    assert part.text.replace(" […] ", " ") == read[0]
    assert (part.is_as_judged, part.words) == (True, READ)


def test_page_and_api_show_the_same_part_and_say_what_it_is(tenant: Tenant, member: Any) -> None:
    judged_world(tenant)
    with in_workspace(tenant.workspace):
        Session.objects.exclude(transcript="").update(transcript=LONG)
    sample(tenant.workspace, 20, rng=np.random.default_rng(3), actor=SYSTEM, now=timezone.now())
    with in_workspace(tenant.workspace):
        item = sample_of(timezone.now())[0]
    part = part_of(tenant, item.session)

    told = tenant.reviewer.get("predictor/calibration/sample").json()["sessions"][0]
    reviewer: Client = member("reviewer")
    page = reviewer.get(f"/console/inbox/?item=calibration:{item.pk}").content.decode()

    assert (told["transcript_part"], told["is_as_judged"], told["part_words"]) == (
        part.text, False, CHANGED,
    )  # fmt: skip
    assert escape(part.text.split("\n")[0]) in page
    assert escape(CHANGED) in page
    assert "as the judge read them" not in page
