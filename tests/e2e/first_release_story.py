"""What was done with the first release to make `data/first_release.zip`.

The archive is a backup of an installation of commit 89515b8c, the first with squashed migrations,
so that its rows are what that release wrote. To make it again, with a checkout of that commit:

    ENGRAM_HOME=H python manage.py up --no-demo --port 8090     # that checkout; leave it running
    ENGRAM_HOME=H python manage.py create_workspace studio       # and, of it, with --role agent,
    ENGRAM_HOME=H python manage.py create_key --workspace studio --role admin      # both keys
    python first_release_story.py http://127.0.0.1:8090 ADMIN_KEY AGENT_KEY
    # stop it, and with this version (the secret is of no use, and is not saved then):
    ENGRAM_SECRET_KEY=none ENGRAM_HOME=H python manage.py backup first_release.zip
"""

from __future__ import annotations

import json
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

DONE_SECONDS = 120
FACTS = (
    "The kiln in the pottery studio fires at 1240 degrees.",
    "The kiln in the pottery studio fires at 1180 degrees.",
    "The billing service runs on PostgreSQL 15.",
    "The billing service runs on PostgreSQL 17.",
    "Celadon glaze is mixed from feldspar, silica and a little iron oxide.",
    "The potter's wheel needs its drive belt tightened every third month.",
    "Überdachung: the café's terrace is covered from May to September.",
    "The apple orchard is pruned in February, before the sap rises.",
)
FORGOTTEN = "The door code of the studio is on the blue card."
MERGED = "The apple orchard is pruned in February, before the sap rises!"
REVISED = "The potter's wheel needs its drive belt tightened every second month."
SESSIONS = {"monday": 3, "tuesday": 12}  # how long; the first is too short to be judged


class Api:
    """Calls the API of a running Engram."""

    def __init__(self, url: str, key: str) -> None:
        self._url, self._key = url, key

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Return the answer of a call; raise where it is refused."""
        request = urllib.request.Request(
            f"{self._url}/api/v1/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self._key}",
                "Content-Type": "application/json",
                **headers,
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{method} {path}: {error.code} {error.read().decode()}") from error


def wait_for(what: Callable[[], Any]) -> Any:
    """Return what comes within two minutes."""
    deadline = time.monotonic() + DONE_SECONDS
    while time.monotonic() < deadline:
        if found := what():
            return found
        time.sleep(0.5)
    raise SystemExit("what should have happened has not")


def live_through(admin: Api, agent: Api) -> None:
    """Commit, contradict, decide, revise, forget, and hold a session that is judged."""
    ids = {}
    for fact in FACTS:
        body = {"content": fact, "scope": "studio", "tags": ["pottery"]}
        ids[fact] = agent("POST", "memories", body)["memory"]["id"]
    agent("POST", "memories", {"content": MERGED, "scope": "studio"})
    forgotten = agent("POST", "memories", {"content": FORGOTTEN, "scope": "studio"})["memory"]["id"]
    admin("POST", "memories/forget", {"ids": [forgotten], "confirm": True})
    admin("PATCH", f"memories/{ids[FACTS[5]]}", {"content": REVISED})
    agent("POST", "memories", {"content": "A pinned rule.", "scope": "studio", "pinned": True})
    cards = wait_for(lambda: _cards(admin, 2))
    card = next(card for card in cards if "kiln" in card["question"])
    verdict = {"verdict": "yes", "version": card["version"]}
    admin("POST", f"conflicts/{card['id']}/resolve", verdict)
    for session, repeats in SESSIONS.items():
        hold(agent, session, repeats)
    wait_for(lambda: agent("GET", "predictor/comparisons")["results"])
    agent("POST", "memories/recall", {"query": "glaze", "k": 3})
    time.sleep(15)  # a sweep adds the recall to the counters


def hold(agent: Api, session: str, repeats: int) -> None:
    """Start a session, ask in it and end it."""
    context = "A day at the kiln and glaze"
    agent("POST", "sessions", {"session_key": session, "context": context, "k": 3})
    agent("POST", f"sessions/{session}/prompts", {"prompt": "How is celadon glaze mixed?"})
    talk = f"User: How is celadon glaze mixed?\nAgent: {FACTS[4]}\nUser: Thank you.\n"
    agent("POST", f"sessions/{session}/end", {"transcript": talk * repeats})


def _cards(admin: Api, count: int) -> Any:
    found = admin("GET", "conflicts?status=open")["results"]
    return found if len(found) >= count else None


if __name__ == "__main__":
    url, *keys = sys.argv[1:]
    live_through(*(Api(url, key) for key in keys))
