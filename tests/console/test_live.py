"""The websocket over the real channel layer: who may watch, what they see, what goes wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async
from channels_redis.core import RedisChannelLayer
from django.conf import settings
from django.contrib.auth.models import User
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from engram.console import consumers, feed
from engram.console.consumers import MAX_ERRORS, LiveConsumer
from engram.console.rights import VALID_SECONDS
from engram.console.watchers import Watcher
from engram.kernel import keys, live
from engram.kernel.actors import SYSTEM
from engram.kernel.history import record
from engram.kernel.models import ApiKey, Event, Membership, Role
from engram.kernel.tenancy import in_workspace
from memories.services.lifecycle import forget
from tests.conftest import NOW, Tenant, build_tenant
from tests.console.cards import OLD, QUESTION, disagree, remember
from tests.console.sockets import Socket

pytestmark = pytest.mark.django_db(transaction=True)

CHECK_SECONDS = LiveConsumer.check_seconds
ORIGIN = (b"origin", b"http://localhost:8000")


def thread(work: Callable[..., Any], *arguments: Any, **named: Any) -> Awaitable[Any]:
    return sync_to_async(work, thread_sensitive=True)(*arguments, **named)


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LiveConsumer, "heartbeat_seconds", 30)
    monkeypatch.setattr(LiveConsumer, "check_seconds", 30)
    monkeypatch.setattr(LiveConsumer, "sign_in_seconds", 30)


@pytest.fixture
def tenant(transactional_db: None) -> Tenant:
    return build("acme")


@pytest.fixture
def neighbour(transactional_db: None) -> Tenant:
    return build("zenith")


def build(slug: str) -> Tenant:
    """Build a tenant and wait until its events are sent: who watches later does not hear them."""
    tenant = build_tenant(slug)
    live._sender._waiting.join()
    return tenant


@asynccontextmanager
async def connected(*headers: tuple[bytes, bytes]) -> AsyncIterator[Socket]:
    socket = Socket("/ws/live/", list(headers))
    assert await socket.connect()
    try:
        yield socket
    finally:
        await socket.leave()


def bearer(token: str) -> tuple[bytes, bytes]:
    return (b"authorization", f"Bearer {token}".encode())


async def ready(socket: Socket) -> None:
    assert (await socket.hear())["type"] == "live.ready"


async def caught_up(socket: Socket, seq: int) -> list[dict[str, Any]]:
    """Ask for what came after a number; return it with the closing message."""
    await socket.say(json.dumps({"seq": seq}))
    told = [await socket.hear()]
    while told[-1]["type"] != "catch_up.done":
        told.append(await socket.hear())
    return told


def sign_in(tenant: Tenant) -> tuple[bytes, bytes]:
    user = User.objects.create_user("watcher", is_staff=True, is_active=True)
    Membership.objects.create(workspace=tenant.workspace, user=user, role=Role.READER)
    client = Client()
    client.force_login(user)
    return (b"cookie", f"sessionid={client.cookies['sessionid'].value}".encode())


async def test_key_in_the_header_hears_commits_with_their_text(tenant: Tenant) -> None:
    async with connected(bearer(tenant.reader.token)) as socket:
        await ready(socket)
        memory = await thread(remember, tenant.workspace, OLD, scope="infra/api", agent="coder")
        event = await socket.hear()
    assert event["type"] == "memory.committed"
    assert event["seq"] > 0
    assert event["data"]["object"] == str(memory.pk)
    assert (event["data"]["text"], event["data"]["agent"]) == (OLD, "coder")


async def test_key_as_the_first_message_lets_in(tenant: Tenant) -> None:
    async with connected() as socket:
        await socket.say(json.dumps({"key": tenant.reader.token}))
        await ready(socket)


async def test_member_of_our_page_is_let_in(tenant: Tenant) -> None:
    cookie = await thread(sign_in, tenant)
    async with connected(cookie, ORIGIN) as socket:
        await ready(socket)


async def test_page_of_a_trusted_origin_is_let_in(tenant: Tenant, settings: Any) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://memory.example:8443"]
    cookie = await thread(sign_in, tenant)
    async with connected(cookie, (b"origin", b"https://memory.example:8443")) as socket:
        await ready(socket)


@pytest.mark.parametrize(
    "origin",
    [
        [],
        [(b"origin", b"http://evil.example")],
        [(b"origin", b"null")],
        [(b"origin", b"http://[")],
        [(b"origin", b"http://localhost:9000")],
        [(b"origin", b"http://localhost")],
        [(b"origin", b"http://127.0.0.1:8000")],
        [(b"origin", b"file://localhost:8000")],
    ],
)
async def test_session_counts_nothing_on_a_page_of_others(
    tenant: Tenant, origin: list[tuple[bytes, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LiveConsumer, "sign_in_seconds", 0.1)
    cookie = await thread(sign_in, tenant)
    async with connected(cookie, *origin) as socket:
        assert await socket.closed_with() == 4401


async def test_nobody_is_closed_out_after_a_moment(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LiveConsumer, "sign_in_seconds", 0.1)
    async with connected() as socket:
        assert await socket.closed_with() == 4401


@pytest.mark.parametrize("token", ["egr_unknown", "", "\ud800", "x" * 5000])
async def test_wrong_key_as_message_is_closed_out(tenant: Tenant, token: str) -> None:
    async with connected() as socket:
        await socket.say(json.dumps({"key": token}))
        assert await socket.closed_with() == 4401


async def test_frames_sent_after_a_wrong_key_are_left_unread(tenant: Tenant) -> None:
    async with connected() as socket:
        await socket.say(json.dumps({"key": "egr_unknown"}))
        await socket.say("{}")
        assert await socket.closed_with() == 4401
        assert await socket.receive_nothing(timeout=0.5)


@pytest.mark.parametrize("value", [b"Bearer egr_unknown", b"Basic abc", b"\xff\xfe"])
async def test_wrong_key_in_the_header_is_closed_out(tenant: Tenant, value: bytes) -> None:
    async with connected((b"authorization", value)) as socket:
        assert await socket.closed_with() == 4401


async def test_expired_key_is_closed_out(tenant: Tenant) -> None:
    _, token = await thread(
        keys.issue, tenant.workspace, name="old", role=Role.READER, actor=SYSTEM,
        now=timezone.now(), expires_at=timezone.now() - timedelta(minutes=1),
    )  # fmt: skip
    async with connected(bearer(token)) as socket:
        assert await socket.closed_with() == 4401


async def test_nothing_of_another_workspace_arrives(tenant: Tenant, neighbour: Tenant) -> None:
    async with connected(bearer(tenant.reader.token)) as socket:
        await ready(socket)
        await thread(disagree, neighbour.workspace)
        told = await caught_up(socket, 0)
        assert QUESTION not in json.dumps(told)
        assert OLD not in json.dumps(told)
        await thread(remember, tenant.workspace, "Our own fact.")
        event = await socket.hear()
    assert event["data"]["text"] == "Our own fact."


async def test_what_was_missed_is_told_again_with_an_overlap(tenant: Tenant) -> None:
    await thread(disagree, tenant.workspace)
    seqs = await thread(_seqs, tenant)
    async with connected(bearer(tenant.reader.token)) as socket:
        await ready(socket)
        told = await caught_up(socket, seqs[-1])
    # Everything here happened within the last minute before that number.
    assert [event["seq"] for event in told[:-1]] == seqs
    assert told[-1]["seq"] == seqs[-1]


def _seqs(tenant: Tenant) -> list[int]:
    with in_workspace(tenant.workspace):
        # The keys of the tenant were issued long ago.
        recent = Event.objects.exclude(type="key.issued").order_by("seq")
        return list(recent.values_list("seq", flat=True))


async def test_catching_up_is_bounded_and_says_so(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "CATCH_UP_ROWS", 3)
    await thread(disagree, tenant.workspace)
    seqs = await thread(_seqs, tenant)
    async with connected(bearer(tenant.reader.token)) as socket:
        await ready(socket)
        told = await caught_up(socket, 0)
    assert [event["type"] for event in (told[0], told[-1])] == [
        "catch_up.truncated",
        "catch_up.done",
    ]
    assert [event["seq"] for event in told[1:-1]] == seqs[-3:]


async def test_a_busy_minute_before_is_no_loss(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that was just made has missed nothing, however much happened right before."""
    monkeypatch.setattr(feed, "CATCH_UP_ROWS", 3)
    await thread(disagree, tenant.workspace)
    seqs = await thread(_seqs, tenant)
    assert len(seqs) > 4
    async with connected(bearer(tenant.reader.token)) as socket:
        await ready(socket)
        for missed, is_lost in ((0, False), (1, False), (3, False), (4, True)):
            told = await caught_up(socket, seqs[-1 - missed])
            assert (told[0]["type"] == "catch_up.truncated") is is_lost, missed
            assert [event["seq"] for event in told if event["seq"]][:-1] == seqs[-3:]


async def test_old_events_outside_of_the_overlap_are_not_repeated(tenant: Tenant) -> None:
    def write() -> list[int]:
        now = timezone.now()
        with in_workspace(tenant.workspace):
            return [
                record("settings.changed", of=("workspace", "x"), actor=SYSTEM, now=at).seq
                for at in (now - timedelta(minutes=9), now - timedelta(minutes=5), now)
            ]

    first, second, third = await thread(write)
    async with connected(bearer(tenant.reader.token)) as socket:
        await ready(socket)
        told = await caught_up(socket, second)
    seqs = [event["seq"] for event in told]
    assert first not in seqs
    assert seqs[0] >= second
    assert third in seqs


async def test_forgotten_text_is_not_sent(tenant: Tenant) -> None:
    memory = await thread(remember, tenant.workspace, OLD)
    now = timezone.now()
    await thread(forget.forget, tenant.workspace, [memory.pk], actor=SYSTEM, now=now)
    async with connected(bearer(tenant.reader.token)) as socket:
        await ready(socket)
        told = await caught_up(socket, 0)
    assert "memory.forgotten" in [event["type"] for event in told]
    assert OLD not in json.dumps(told)


@pytest.mark.parametrize(
    "frame",
    [
        "",
        "nonsense",
        "[]",
        "{}",
        "null",
        '{"seq": -1}',
        '{"seq": true}',
        '{"seq": 1.5}',
        '{"seq": "1"}',
        '{"seq": 1e400}',
        '{"seq": NaN}',
        '{"seq": 9223372036854775808}',
        '{"seq": 1' + "0" * 5000 + "}",
        '{"other": 1}',
        '{"seq": 1, "other": 1}',
        '{"key": 5}',
        '{"key": "egr_x"}',
        '{"key": "\\u0000"}',
        '{"key": "\\ud800"}',
        "[" * 50_000,
        '{"seq": "' + "x" * 70_000 + '"}',
        "é" * 40_000,
    ],
    ids=lambda frame: frame[:24],
)
async def test_wrong_frame_gets_an_error_and_the_connection_goes_on(
    tenant: Tenant, frame: str
) -> None:
    async with connected(bearer(tenant.reader.token)) as socket:
        await ready(socket)
        await socket.say(frame)
        answer = await socket.hear()
        assert answer["type"] == "error"
        assert answer["data"]["detail"] != ""
        await thread(remember, tenant.workspace, OLD)
        assert (await socket.hear())["type"] == "memory.committed"


async def test_binary_frame_gets_an_error(tenant: Tenant) -> None:
    async with connected(bearer(tenant.reader.token)) as socket:
        await ready(socket)
        await socket.say(binary=b"\x00\xff")
        assert (await socket.hear())["type"] == "error"


async def test_endless_errors_end_the_connection(tenant: Tenant) -> None:
    async with connected(bearer(tenant.reader.token)) as socket:
        await ready(socket)
        for _ in range(MAX_ERRORS):
            await socket.say("nonsense")
        assert await socket.closed_with() == 1008


async def test_asking_before_signing_in_is_closed_out(transactional_db: None) -> None:
    async with connected() as socket:
        await socket.say(json.dumps({"seq": 1}))
        assert (await socket.hear())["type"] == "error"
        assert await socket.closed_with() == 4401


async def test_revoked_key_is_closed_at_the_next_heartbeat(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LiveConsumer, "heartbeat_seconds", 0.1)
    key, token = await thread(
        keys.issue, tenant.workspace, name="k", role=Role.READER, actor=SYSTEM, now=timezone.now()
    )
    async with connected(bearer(token)) as socket:
        await ready(socket)
        assert (await socket.hear())["type"] == "heartbeat"
        await thread(keys.revoke, key, actor=SYSTEM, now=timezone.now())
        assert await socket.closed_with() == 4401


@pytest.mark.parametrize("loss", ["membership", "session", "account"])
async def test_member_who_leaves_is_closed_at_the_next_heartbeat(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, loss: str
) -> None:
    monkeypatch.setattr(LiveConsumer, "heartbeat_seconds", 0.1)
    cookie = await thread(sign_in, tenant)

    def lose() -> None:
        if loss == "membership":
            Membership.objects.all().delete()
        elif loss == "account":
            User.objects.update(is_active=False)
        else:
            client = Client()
            client.cookies["sessionid"] = cookie[1].decode().partition("=")[2]
            client.post("/console/sign-out/")

    async with connected(cookie, ORIGIN) as socket:
        await ready(socket)
        assert (await socket.hear())["type"] == "heartbeat"
        await thread(lose)
        assert await socket.closed_with() == 4401


def test_a_right_that_ended_is_noticed_within_five_seconds() -> None:
    assert CHECK_SECONDS + VALID_SECONDS <= 4.5  # and the look at the database


@pytest.mark.parametrize("loss", ["revoked", "expired"])
async def test_a_key_that_ended_hears_nothing_after(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, loss: str
) -> None:
    """The heartbeat is far away: what is said meanwhile is not said to it."""
    key, token = await thread(
        keys.issue, tenant.workspace, name="k", role=Role.READER, actor=SYSTEM, now=timezone.now()
    )

    def lose() -> None:
        with in_workspace(tenant.workspace):
            if loss == "revoked":
                keys.revoke(key, actor=SYSTEM, now=timezone.now())
            else:
                ApiKey.objects.filter(pk=key.pk).update(expires_at=timezone.now())
            # In the same moment, so that whoever looks only now and then is told it.
            remember(tenant.workspace, OLD)

    async with connected(bearer(token)) as socket:
        await ready(socket)
        await thread(lose)
        told = await until_closed(socket)
    assert [message["type"] for message in told] == ["error"]
    assert OLD not in json.dumps(told)


async def until_closed(socket: Socket) -> list[dict[str, Any]]:
    """Return all that is told until the connection is closed for want of a right."""
    told = []
    while True:
        output = await socket.receive_output(5)
        if output["type"] == "websocket.close":
            assert output["code"] == 4401
            return told
        told.append(json.loads(output["text"]))


async def test_sockets_of_one_watcher_share_the_check_of_its_right(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[UUID | None] = []
    may_stay = Watcher.may_stay

    def counted(self: Watcher, now: datetime) -> bool:
        checked.append(self.key_id)
        return may_stay(self, now)

    monkeypatch.setattr(Watcher, "may_stay", counted)
    monkeypatch.setattr(LiveConsumer, "gather_seconds", 0.3)
    async with AsyncExitStack() as stack:
        watching = [tenant.reader] * 6 + [tenant.agent]
        sockets = [
            await stack.enter_async_context(connected(bearer(caller.token))) for caller in watching
        ]
        for socket in sockets:
            await ready(socket)
        await thread(remember, tenant.workspace, OLD)
        for socket in sockets:
            assert (await socket.hear())["data"]["text"] == OLD
        assert len(checked) == len(set(checked)) == 2


async def test_quiet_sockets_of_one_watcher_share_a_check_for_two_seconds(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks: list[datetime] = []

    def watches(_: Watcher, now: datetime) -> bool:
        checks.append(now)
        return True

    monkeypatch.setattr(Watcher, "may_stay", watches)
    monkeypatch.setattr(LiveConsumer, "check_seconds", 0.1)
    token = bearer(tenant.reader.token)
    async with connected(token) as one, connected(token) as two:
        await ready(one)
        await ready(two)
        await asyncio.sleep(0.8)
    assert len(checks) == 1


async def test_a_revoked_key_cannot_ask_for_what_it_missed(tenant: Tenant) -> None:
    key, token = await thread(
        keys.issue, tenant.workspace, name="k", role=Role.READER, actor=SYSTEM, now=timezone.now()
    )
    await thread(remember, tenant.workspace, OLD)

    def revoke_unheard() -> None:
        with in_workspace(tenant.workspace):
            ApiKey.objects.filter(pk=key.pk).update(revoked_at=timezone.now())

    async with connected(bearer(token)) as socket:
        await ready(socket)
        await thread(revoke_unheard)
        await socket.say(json.dumps({"seq": 0}))
        assert OLD not in json.dumps(await until_closed(socket))


@pytest.mark.parametrize("loss", ["password", "account", "membership", "role"])
async def test_a_person_who_may_no_longer_look_hears_nothing_after(
    tenant: Tenant, loss: str
) -> None:
    cookie = await thread(sign_in, tenant)

    def lose() -> None:
        user = User.objects.get(username="watcher")
        if loss == "password":
            user.set_password("another horse")
            user.save()
        elif loss == "account":
            User.objects.update(is_active=False)
        elif loss == "membership":
            Membership.objects.all().delete()
        else:
            Membership.objects.update(role=Role.READER)
        remember(tenant.workspace, OLD)

    await thread(Membership.objects.update, role=Role.REVIEWER)
    async with connected(cookie, ORIGIN) as socket:
        await ready(socket)
        await thread(lose)
        assert OLD not in json.dumps(await until_closed(socket))


async def test_a_person_of_a_higher_role_goes_on_watching(tenant: Tenant) -> None:
    cookie = await thread(sign_in, tenant)
    async with connected(cookie, ORIGIN) as socket:
        await ready(socket)
        await thread(Membership.objects.update, role=Role.ADMIN)
        await thread(remember, tenant.workspace, OLD)
        assert (await socket.hear())["data"]["text"] == OLD


async def test_a_changed_password_closes_a_quiet_connection(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LiveConsumer, "check_seconds", 0.1)
    cookie = await thread(sign_in, tenant)

    def change_password() -> None:
        user = User.objects.get(username="watcher")
        user.set_password("another horse")
        user.save()

    async with connected(cookie, ORIGIN) as socket:
        await ready(socket)
        await thread(change_password)
        assert await socket.closed_with() == 4401


async def test_a_database_that_is_away_costs_the_connection_and_tells_nothing(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with connected(bearer(tenant.reader.token)) as socket:
        await ready(socket)

        def away(*_: Any) -> bool:
            raise OperationalError

        monkeypatch.setattr(Watcher, "may_stay", away)
        await thread(remember, tenant.workspace, OLD)
        assert (await socket.hear())["type"] == "error"
        assert await socket.closed_with() == 1013


async def test_catching_up_is_limited_for_a_key_on_all_its_connections(
    tenant: Tenant, neighbour: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "CATCH_UPS_PER_MINUTE", 3)
    async with (
        connected(bearer(tenant.reader.token)) as one,
        connected(bearer(tenant.reader.token)) as two,
        connected(bearer(neighbour.reader.token)) as other,
    ):
        for socket in (one, two, other):
            await ready(socket)
        for socket in (one, two, one):
            assert (await caught_up(socket, 0))[-1]["type"] == "catch_up.done"
        for socket in (one, two):
            await socket.say(json.dumps({"seq": 0}))
            refused = await socket.hear()
            assert refused["type"] == "error"
            assert 1 <= refused["data"]["retry_after_seconds"] <= 60
        assert (await caught_up(other, 0))[-1]["type"] == "catch_up.done"
        await thread(remember, tenant.workspace, OLD)  # live events go on
        assert (await one.hear())["type"] == "memory.committed"


async def test_burst_arrives_whole_and_in_order(tenant: Tenant) -> None:
    async with connected(bearer(tenant.reader.token)) as socket:
        await ready(socket)
        for number in range(30):
            await thread(remember, tenant.workspace, f"Fact number {number} is about item{number}.")
        seqs = []
        while len(seqs) < 30:
            event = await socket.hear()
            if event["type"] == "memory.committed":
                seqs.append(event["seq"])
    assert seqs == sorted(seqs)


async def test_unknown_path_is_refused(transactional_db: None) -> None:
    socket = Socket("/ws/elsewhere/", [])
    assert not await socket.connect()
    await socket.leave()


async def test_closing_leaves_no_task_behind(tenant: Tenant) -> None:
    before = asyncio.all_tasks()
    async with connected(bearer(tenant.reader.token)) as socket:
        await ready(socket)
    await asyncio.sleep(0.1)
    assert {task for task in asyncio.all_tasks() - before if not task.done()} == set()


async def test_client_that_has_gone_is_no_error() -> None:
    async def gone(message: dict[str, Any]) -> None:
        raise ConnectionResetError

    consumer = LiveConsumer()
    consumer.tasks, consumer.base_send = set(), gone
    await consumer._spawn(consumer._send("heartbeat"))
    assert consumer.tasks == set()


def test_a_quiet_stream_is_no_dead_server() -> None:
    (host,) = settings.CHANNEL_LAYERS["default"]["CONFIG"]["hosts"]
    assert host["socket_timeout"] > RedisChannelLayer.brpop_timeout


@pytest.mark.parametrize("kind", ["calibration.drawn", "digest.daily", "predictor.reset"])
def test_lines_of_no_one_object_lead_to_a_page_that_readers_may_open(
    kind: str, tenant: Tenant, member: Callable[[str], Client]
) -> None:
    with in_workspace(tenant.workspace):
        record(kind, of=("workspace", tenant.workspace.id), actor=SYSTEM, now=NOW, data={})
        told = next(line for line in feed.latest(9) if line["type"] == kind)
    assert member("reader").get(told["data"]["url"]).status_code == 200
