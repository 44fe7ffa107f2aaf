"""A running product that the end-to-end tests share, and what several of them do with it."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from functools import partial
from typing import Any
from urllib.parse import quote

from websockets.sync.client import ClientConnection, connect

from tests.e2e.browser import PASSWORD
from tests.e2e.test_up import Up
from tests.homes import PATIENCE_SECONDS, eventually, start_python

# For each line of slug, person and password it makes a workspace, a person who administers it and a
# key of each role, and prints the keys; for a line of a person it prints a session's key.
_MAKE_WORKSPACES = """
import io, json, sys
from engram import embedded
embedded.export_environment()
import django
django.setup()
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client

def make_workspace(slug, person, password):
    User.objects.create_superuser(person, password=password)
    call_command("create_workspace", slug, admin=person, stdout=io.StringIO())
    keys = {}
    for role in ("agent", "reviewer", "admin"):
        printed = io.StringIO()
        call_command("create_key", workspace=slug, role=role, stdout=printed)
        keys[role] = printed.getvalue().strip()
    return keys

def enter(person):
    client = Client()
    client.force_login(User.objects.get(username=person))
    return {name: cookie.value for name, cookie in client.cookies.items()}

for line in sys.stdin:
    given = json.loads(line)
    print(json.dumps(enter(*given) if len(given) == 1 else make_workspace(*given)), flush=True)
    connection.close()
    connection.close_pool()  # tests kill the server
"""


class WorkspaceMaker:
    """A process that makes workspaces and sessions of people: to load Django takes the longest."""

    def __init__(self, up: Up):
        self.up = up
        self._process = start_python(
            _MAKE_WORKSPACES, up.home, DJANGO_SETTINGS_MODULE="engram.settings"
        )

    def make_workspace(self, slug: str, person: str) -> dict[str, str]:
        """Make a workspace, who administers it and its keys; return the keys by role."""
        return self._ask(slug, person, PASSWORD)

    def enter(self, person: str) -> dict[str, str]:
        """Sign a person in; return the cookies."""
        return self._ask(person)

    def _ask(self, *given: str) -> dict[str, str]:
        limit = threading.Timer(PATIENCE_SECONDS, self._process.kill)
        limit.start()
        try:
            self._process.stdin.write(json.dumps(given) + "\n")
            self._process.stdin.flush()
            said = []
            for line in self._process.stdout:
                if line.startswith("{"):
                    return dict(json.loads(line))
                said.append(line)
            raise AssertionError("".join(said))
        finally:
            limit.cancel()

    def end(self) -> None:
        """End the process."""
        self._process.communicate()


class Service:
    """A workspace of a running product, its keys, and the user name of a person in it."""

    def __init__(self, workspace_maker: WorkspaceMaker, slug: str):
        self.up = workspace_maker.up
        self.person = f"{slug}-person"
        self.tokens = workspace_maker.make_workspace(slug, self.person)
        self.enter = partial(workspace_maker.enter, self.person)
        self.is_known = False  # whether the person has signed in by the form

    def call(
        self, role: str, path: str, body: Any = None, *, method: str | None = None
    ) -> tuple[int, Any]:
        """Call the API; return the status and the parsed answer.

        A 500 fails the test with what the service printed, its traceback among it.
        """
        request = urllib.request.Request(
            f"{self.up.url}/api/v1/{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self.tokens[role]}",
                "Content-Type": "application/json",
            },
            method=method,
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                status, problem = error.code, json.load(error)
        assert status != 500, "\n".join([str(problem), *self.up.lines[-80:]])
        return status, problem

    def watch(self) -> ClientConnection:
        """Open the live stream."""
        return connect(
            f"{self.up.url.replace('http', 'ws')}/ws/live/",
            additional_headers={"Authorization": f"Bearer {self.tokens['agent']}"},
        )

    def open_cards(self) -> list[Any]:
        """Return the cards that wait."""
        found: list[Any] = self.call("agent", "conflicts?status=open")[1]["results"]
        return found


def wait_for(live: ClientConnection, type_: str) -> dict[str, Any]:
    """Read the live stream until an event of the type comes."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (left := deadline - time.monotonic()) > 0:
        event: dict[str, Any] = json.loads(live.recv(timeout=left))
        if event["type"] == type_:
            return event
    raise AssertionError(f"no {type_} within {PATIENCE_SECONDS} s")


LIMITS = tuple(f"rate limit is {limit} requests per second" for limit in (1000, 5000))


def contradict(
    service: Service, subject: str, said: Sequence[str] = LIMITS
) -> tuple[str, str, str]:
    """Commit two memories that disagree; return their ids and the card's."""
    known = {card["id"] for card in service.open_cards()}
    ids = []
    for words in said:
        content = f"The {subject} {words}."
        _, answer = service.call("agent", "memories", {"content": content, "scope": subject})
        ids.append(answer["memory"]["id"])
    new: list[str] = []

    def arrived() -> bool:
        new[:] = [card["id"] for card in service.open_cards() if card["id"] not in known]
        return bool(new)

    assert eventually(arrived), "\n".join([str(answer), *service.up.lines[-80:]])
    return ids[0], ids[1], new[0]


def status(service: Service, card: str) -> str:
    return str(service.call("agent", f"conflicts/{card}")[1]["status"])


FACTS = {
    "kiln": "The kiln in the pottery studio fires at 1240 degrees for nine hours.",
    "glaze": "Celadon glaze is mixed from feldspar, silica and a little iron oxide.",
    "wheel": "The potter's wheel needs its drive belt tightened every third month.",
    "orchard": "The apple orchard is pruned in February, before the sap rises.",
    "bees": "The beehives beside the orchard are inspected on dry Sunday mornings.",
    "cider": "Cider ferments in oak barrels until the middle of March.",
    "harbour": "The lighthouse lamp is replaced by the harbour master each autumn.",
    "tide": "Spring tides flood the lower quay up to the second iron ring.",
    "rope": "Mooring ropes thicker than forty millimetres are stored in the dry loft.",
    "library": "Overdue library books cost twenty cents a day after one free week.",
    "archive": "The newspaper archive of the library lives on microfilm in the cellar.",
    "reading": "Reading evenings for children begin at half past five on Thursdays.",
}
TOPICS = (("kiln", "glaze", "wheel"), ("orchard", "bees", "cider"), ("harbour", "tide", "rope"))


def work(service: Service, number: int) -> str:
    """Hold one session about a topic, from its start to its end; return its key."""
    topic = TOPICS[number % len(TOPICS)]
    key = f"shift {number}/{topic[0]}"
    address = quote(key, safe="")
    context = f"A day of work: {FACTS[topic[0]]}"
    status, started = service.call(
        "agent", "sessions", {"session_key": key, "context": context, "k": 3}
    )
    assert status == 201
    assert len(started["memories"]) == 3
    service.call("agent", f"sessions/{address}/prompts", {"prompt": FACTS[topic[1]]})
    said = [f"User: tell me more.\nAgent: {FACTS[name]}" for name in topic]
    said += [
        "User: thank you. I have to prepare the visitors' tour of next weekend, write a list,",
        "call three neighbours about borrowed ladders, answer an invoice, mend the broken window.",
        "Agent: the list is ready; flour, nails, lamp oil, two brushes and a padlock are on it.",
        "User: perfect, print it twice and remind me tomorrow after breakfast.",
    ]
    status, _ = service.call("agent", f"sessions/{address}/end", {"transcript": "\n".join(said)})
    assert status == 202
    return key
