"""Sending to an address: which are called, and what a target can do to the sender."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from ipaddress import ip_address
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from engram.console.webhooks.addresses import AddressError, is_public, lookup, read_url
from engram.console.webhooks.posting import ANSWER_BYTES, NOTE_CHARS, post
from tests.webhook_target import WebhookTarget, free_port

BODY = b'{"type":"webhook.test"}'
HEADERS = {"Content-Type": "application/json", "webhook-id": "one"}


@pytest.fixture
def target() -> Iterator[WebhookTarget]:
    """Return a running target."""
    with WebhookTarget() as running:
        yield running


@pytest.fixture
def loopback(settings: Any) -> None:
    """Allow the loopback addresses of tests."""
    settings.ENGRAM_WEBHOOK_NETWORKS = ["127.0.0.1", "::1"]


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1",  # noqa: S104
        "169.254.169.254", "100.64.0.1", "192.0.0.8", "192.0.2.1", "198.18.0.1", "198.51.100.1",
        "203.0.113.9", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
        "::", "::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "fe80::1",
        "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1", "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2002:a00:1::1", "100::1",
        "2001:0:7f00:1::1", "3fff::1", "5f00::1",
    ],
)  # fmt: skip
def test_an_address_that_is_not_public_is_refused(address: str) -> None:
    assert not is_public(ip_address(address))
    host = f"[{address}]" if ":" in address else address
    with pytest.raises(AddressError, match="no public address"):
        read_url(f"https://{host}/hook")


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_public_addresses_are_called(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "url",
    [
        "", "example.com", "ftp://example.com/", "file:///etc/passwd", "gopher://example.com/",
        "https://", "https:///path", "https://user@example.com/", "https://u:p@example.com/",
        "https://example.com:0/", "https://example.com:99999/", "https://example.com:x/",
        "https://[::1/", "https://example.com/#part", "https://example.com/ space",
        "https://example.com/\r\nHost: other", "https://exämple.com/", "https://example.com\\@a.b/",
        "https://example.com/" + "a" * 2000, "javascript:alert(1)", "https://127.0.0.1/",
        "https://[::ffff:10.0.0.1]/", f"https://{'a.' * 130}example.com/",
    ],
)  # fmt: skip
def test_bad_urls_are_refused(url: str) -> None:
    with pytest.raises(AddressError):
        read_url(url)


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "0177.0.0.1", "127.1", "localhost"])
def test_other_spellings_of_loopback_are_refused_when_they_are_resolved(
    host: str, target: WebhookTarget
) -> None:
    answer = post(f"http://{host}:{target.port}/", BODY, HEADERS)
    assert answer.status is None
    assert "no public address" in answer.note or "has no address" in answer.note
    assert target.requests == []


@pytest.mark.parametrize(
    "host",
    [
        "localhost", "LOCALHOST", "localhost.", "db.localhost", "2130706433", "0x7f.1", "127.1",
        "0177.0.0.1", "0", "167772161", "169.254.43518",
    ],
)  # fmt: skip
def test_private_addresses_are_refused_before_anything_is_resolved(host: str) -> None:
    """Pitfall 44."""
    with pytest.raises(AddressError, match="no public address"):
        read_url(f"http://{host}:8080/hook")


@pytest.mark.parametrize("network", ["127.0.0.0/8", "::1/128"])
def test_a_setting_allows_the_names_of_this_machine(settings: Any, network: str) -> None:
    settings.ENGRAM_WEBHOOK_NETWORKS = (network,)
    assert read_url("http://localhost:8080/hook").host == "localhost"


@pytest.mark.parametrize("host", ["localhost.example.com", "mylocalhost", "134744072", "8.8.2056"])
def test_public_hosts_are_told_from_local_ones(host: str) -> None:
    assert read_url(f"https://{host}/").host == host


def test_nothing_is_sent_to_loopback_unless_a_setting_allows_it(target: WebhookTarget) -> None:
    assert "no public address" in post(target.url, BODY, HEADERS).note
    assert target.requests == []


def test_what_is_sent_arrives_as_it_is(target: WebhookTarget, loopback: None) -> None:
    answer = post(target.url, BODY, HEADERS)
    assert (answer.status, answer.note, answer.is_success) == (200, "ok", True)
    [received] = target.requests
    assert (received.path, received.body) == ("/hook?team=1", BODY)
    assert received.headers["host"] == f"127.0.0.1:{target.port}"
    assert received.headers["webhook-id"] == "one"


def test_the_checked_address_is_called_and_the_name_is_sent(
    target: WebhookTarget, loopback: None
) -> None:
    url = f"http://hooks.example.com:{target.port}/a"
    answer = post(url, BODY, HEADERS, resolve=lambda host, port: ["127.0.0.1"])
    assert answer.status == 200
    assert target.requests[0].headers["host"] == f"hooks.example.com:{target.port}"


def test_a_name_that_is_public_at_first_and_private_afterwards_is_asked_for_once(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DNS rebinding: the second answer of the name server, the private one, is never used."""
    answers, connected = [["93.184.216.34"], ["127.0.0.1"]], []

    def connect(address: tuple[str, int], **_: Any) -> socket.socket:
        connected.append(address)
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(socket, "create_connection", connect)
    answer = post("http://rebind.example.com/", BODY, {}, resolve=lambda *_: answers.pop(0))
    assert (connected, len(answers)) == ([("93.184.216.34", 80)], 1)
    assert answer.note == "Not reached: Connection refused"
    # The next attempt resolves again, and refuses the private address.
    answer = post("http://rebind.example.com/", BODY, {}, resolve=lambda *_: answers.pop(0))
    assert "127.0.0.1 is no public address" in answer.note
    assert len(connected) == 1


def test_a_name_with_one_private_address_among_public_ones_is_refused() -> None:
    found = ["93.184.216.34", "10.0.0.7"]
    answer = post("http://two.example.com/", BODY, {}, resolve=lambda *_: found)
    assert "10.0.0.7 is no public address" in answer.note


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(target: WebhookTarget, loopback: None, status: int) -> None:
    with WebhookTarget() as inside:
        target.answer(status, "", Location=inside.url)
        answer = post(target.url, BODY, HEADERS)
        assert (answer.status, answer.is_success) == (status, False)
        assert "not followed" in answer.note
        assert inside.requests == []


def test_a_target_that_stalls_is_left(target: WebhookTarget, loopback: None) -> None:
    target.behave = lambda handler: target.closing.wait(30) and None
    started = monotonic()
    answer = post(target.url, BODY, HEADERS, seconds=0.5)
    assert (answer.status, answer.note) == (None, "No answer within 0.5 seconds.")
    assert monotonic() - started < 5


def test_a_target_that_sends_a_byte_now_and_then_is_left(
    target: WebhookTarget, loopback: None
) -> None:
    def drip(handler: BaseHTTPRequestHandler) -> None:
        for letter in b"HTTP/1.1 200 OK\r\nX: " + b"a" * 1000:
            handler.wfile.write(bytes([letter]))
            handler.wfile.flush()
            if target.closing.wait(0.05):
                return

    target.behave = drip
    started = monotonic()
    answer = post(target.url, BODY, HEADERS, seconds=0.5)
    assert (answer.status, answer.note) == (None, "No answer within 0.5 seconds.")
    assert monotonic() - started < 5


def test_of_an_endless_answer_little_is_read(target: WebhookTarget, loopback: None) -> None:
    sent = threading.Event()

    def flood(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(2 * 2**30))
        handler.end_headers()
        try:
            for _ in range(2**15):
                handler.wfile.write(b"x" * 2**16)
        except OSError:  # the sender has hung up
            sent.set()

    target.behave = flood
    answer = post(target.url, BODY, HEADERS)
    assert (answer.status, answer.note) == (200, "x" * 200)
    assert sent.wait(10)
    assert ANSWER_BYTES < 2**16


def test_a_status_counts_although_its_body_never_ends(
    target: WebhookTarget, loopback: None
) -> None:
    def behave(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(204)
        handler.send_header("Content-Length", "10")
        handler.end_headers()
        target.closing.wait(30)

    target.behave = behave
    assert post(target.url, BODY, HEADERS, seconds=0.5).is_success


@pytest.mark.parametrize(
    "said", [b"", b"SSH-2.0-OpenSSH_9.2\r\n", b"HTTP/1.1 banana\r\n\r\n", b"\0" * 99]
)
def test_what_speaks_no_http_is_named(target: WebhookTarget, loopback: None, said: bytes) -> None:
    target.behave = lambda handler: handler.wfile.write(said) and None
    answer = post(target.url, BODY, HEADERS)
    assert answer.status is None
    assert answer.note.startswith(("Is no HTTP answer", "Not reached"))


def test_endless_headers_are_an_answer_that_is_none(target: WebhookTarget, loopback: None) -> None:
    def behave(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 100_000)

    target.behave = behave
    assert post(target.url, BODY, HEADERS).note.startswith("Is no HTTP answer")


def test_nobody_listening_is_named(loopback: None) -> None:
    answer = post(f"http://127.0.0.1:{free_port()}/", BODY, HEADERS)
    assert (answer.status, answer.note) == (None, "Not reached: Connection refused")


def test_a_name_server_that_stalls_is_left() -> None:
    def stall(host: str, port: int) -> list[str]:
        threading.Event().wait(5)
        return []

    started = monotonic()
    answer = post("https://slow.example.com/", BODY, {}, seconds=0.3, resolve=stall)
    assert "not resolved in time" in answer.note
    assert monotonic() - started < 3


def test_a_name_without_address_is_named() -> None:
    assert lookup("no-such-host.invalid", 443) == []
    note = post("https://no-such-host.invalid/", BODY, {}).note
    assert note == "no-such-host.invalid has no address."


def test_the_note_of_an_answer_is_one_printable_line(target: WebhookTarget, loopback: None) -> None:
    target.answer(500, "\n  it \x1b[31m is\x00 <b>broken</b>\r\nsecond line")
    assert post(target.url, BODY, HEADERS).note == "it [31m is <b>broken</b>"


CERTIFICATE = Path(__file__).parent / "data" / "webhook_tls.pem"  # of hooks.example.com, with key


def over_tls(target: WebhookTarget, host: str, seen: list[str | None]) -> Any:
    """Let a target speak TLS, and send to it by a host's name, of which it sees what was asked."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(CERTIFICATE)
    server.sni_callback = lambda sock, name, context: seen.append(name)
    target.secure(server)
    trusting = ssl.create_default_context(cafile=str(CERTIFICATE))
    url = f"https://{host}:{target.port}/hook"
    return post(url, BODY, HEADERS, resolve=lambda *_: ["127.0.0.1"], context=trusting)


def test_tls_is_for_the_name_though_the_address_is_called(
    target: WebhookTarget, loopback: None
) -> None:
    seen: list[str | None] = []
    assert over_tls(target, "hooks.example.com", seen).status == 200
    assert seen == ["hooks.example.com"]
    assert target.requests[0].body == BODY


def test_a_certificate_of_another_name_is_refused(target: WebhookTarget, loopback: None) -> None:
    answer = over_tls(target, "other.example.com", [])
    assert (answer.status, answer.note) == (None, "TLS failed: CERTIFICATE_VERIFY_FAILED")
    assert target.requests == []


def test_a_certificate_that_nobody_vouches_for_is_refused(
    target: WebhookTarget, loopback: None
) -> None:
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(CERTIFICATE)
    target.secure(server)
    url = f"https://hooks.example.com:{target.port}/"
    answer = post(url, BODY, HEADERS, resolve=lambda *_: ["127.0.0.1"])
    assert answer.note == "TLS failed: CERTIFICATE_VERIFY_FAILED"
    assert target.requests == []


def test_what_a_long_name_says_fits_its_column() -> None:
    host = f"{'a.' * 120}example"
    answer = post(f"https://{host}/", BODY, HEADERS, resolve=lambda host, port: [])
    assert answer.status is None
    assert len(answer.note) <= NOTE_CHARS
