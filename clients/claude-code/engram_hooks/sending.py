"""Transcripts that wait on disk until Engram has them.

An item is written when a session ends, as a reference to the agent's transcript. The process that
sends copies the text into the item first, so that every attempt sends the same. It is removed when
the service has it, and moved to `refused` when the service never will. Sessions whose end was never
told (the agent was killed, or does not tell it) are ended when nothing was written for two hours.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from engram_hooks import state

if TYPE_CHECKING:
    from engram_hooks.service import Service

SPOOL, REFUSED, SESSIONS = "spool", "refused", "sessions"
ITEMS_MAX = 200
BYTES_MAX = 50_000_000
IDLE_SECONDS = 2 * 3600.0
WAITS_SECONDS = (0.0, 5.0, 30.0)
CALL_SECONDS = 30.0
STILL_SECONDS = 0.3
# The session of this key is not ours to end, or ended with another text.
ANOTHER = {
    "session-ended-otherwise",
    "session-of-another-key",
    "session-key-taken",
    "session-ended",
}


def key_of(record: dict[str, Any]) -> str:
    """Return the session key in Engram of a session of the agent, or of a later part of it."""
    name = f"claude-code-{state.session_name(record['session_id'])}"
    return name if record["part"] == 1 else f"{name}.{record['part']}"


def leave(record: dict[str, Any], until: str) -> None:
    """Leave a session's transcript to be sent, and note that the session has ended."""
    record.update(ended=True, until=until, is_new=False)
    item = {name: record[name] for name in ("session_id", "part", "since", "until", "root")}
    item.update(
        key=key_of(record),
        started=record["started"],
        transcript_path=record["transcript_path"],
        cwd=record["cwd"],
    )
    state.write(json.dumps(item), SPOOL, f"{key_of(record)}.json")
    state.keep_session(record)


def next_part(record: dict[str, Any]) -> None:
    """Let a session that goes on after its end be another session of Engram."""
    record.update(
        part=record["part"] + 1,
        since=record["until"],
        until="",
        started=False,
        ended=False,
        shown=[],
        pending="",
    )


def go_on(record: dict[str, Any]) -> None:
    """Let a session that Engram has closed be another one; what was said before is sent."""
    leave(record, moment(-5))
    next_part(record)


def moment(seconds: float = 0.0) -> str:
    """Return the present time as transcripts have it, or one some seconds away from it."""
    at = time.time() + seconds
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(at))}.{int(at % 1 * 1000):03d}Z"


def is_due() -> bool:
    """Return whether something waits to be sent."""
    return bool(state.names(SPOOL)) or next(_unended(), None) is not None


def run() -> None:
    """Send what waits, a few times; only one process does at a time."""
    while True:
        tried: set[str] = set()
        with _alone() as is_alone:
            if not is_alone:
                return
            for seconds in WAITS_SECONDS:
                time.sleep(seconds)
                tried = set(state.names(SPOOL))
                if not send_all():
                    break
        # Whoever left an item meanwhile found the lock taken, and relies on this process.
        if not set(state.names(SPOOL)) - tried:
            return


def send_all() -> bool:
    """Send what waits; return whether something is left."""
    for record in list(_unended()):
        leave(record, moment())
    _forget_old_sessions()
    _keep_bounds()
    state.remove_parts(time.time() - IDLE_SECONDS)
    failing: set[str] = set()
    is_left = False
    for name in state.names(SPOOL):
        item = state.read(SPOOL, name)
        if not item.get("key"):
            state.remove(SPOOL, name)
        elif item.get("root") in failing or not _is_sent(name, item):
            failing.add(str(item.get("root")))
            is_left = True
    return is_left


def _is_sent(name: str, item: dict[str, Any]) -> bool:
    """Send one item; return whether nothing more is to be done for it."""
    from engram_hooks import transcript
    from engram_hooks.service import NotReachedError, RefusedError

    settings = state.settings_of(str(item.get("root") or ""))
    if settings is None:
        return False
    if "text" not in item:
        _wait_until_still(item["transcript_path"])
        item["text"] = transcript.read(item["transcript_path"], item["since"], item["until"])
        state.write(json.dumps(item), SPOOL, name)
    if item["text"] or item["started"]:
        try:
            _deliver(item, settings)
        except NotReachedError as error:
            state.log(f"sending: not reached, {error}")
            return False
        except RefusedError as error:
            state.log(f"sending: refused, {error}")
            if error.is_passing:
                return False
            state.write(json.dumps(item), REFUSED, name)
    state.remove(SPOOL, name)
    return True


def _deliver(item: dict[str, Any], settings: dict[str, Any]) -> None:
    from engram_hooks.service import RefusedError, Service

    service = Service(settings["url"], settings["key"], CALL_SECONDS)
    key, text = item["key"], item["text"]
    extract = bool(settings["extract"] and text)
    try:
        _end(service, key, item, settings, extract=extract)
    except RefusedError as error:
        if error.cause not in ANOTHER or not text:
            raise
        # A name of the text itself: the same attempt twice is the same session.
        key = f"{key}-{state.digest(text)[:8]}"
        _end(service, key, item, settings, extract=extract)
    finally:
        service.close()


def _end(
    service: Service,
    key: str,
    item: dict[str, Any],
    settings: dict[str, Any],
    *,
    extract: bool,
) -> None:
    from engram_hooks import project
    from engram_hooks.service import RefusedError

    try:
        service.end(key, item["text"], extract=extract)
    except RefusedError as error:
        if error.cause == "extraction-off" and extract:
            state.log("sending: this workspace extracts no memories")
            _end(service, key, item, settings, extract=False)
        elif error.status == 404:  # it was never started
            label = settings["project"] or project.label(item["cwd"])
            service.start(key, project=label, agent="claude-code", context="", k=1)
            service.end(key, item["text"], extract=extract)
        else:
            raise


def _wait_until_still(path: str) -> None:
    """Wait until the agent has written its last lines, at most some seconds."""
    size = -1
    for _ in range(10):
        with suppress(OSError):
            found = os.path.getsize(path)
            if found == size:
                return
            size = found
        time.sleep(STILL_SECONDS)


def _unended() -> Iterator[dict[str, Any]]:
    """Yield the sessions whose transcript nobody has written to for long, and that did not end."""
    before = time.time() - IDLE_SECONDS
    for name in state.names(SESSIONS):
        record_path = os.path.join(state.home(), SESSIONS, name)
        with suppress(OSError):
            if os.path.getmtime(record_path) > before:
                return  # the names are ordered by time
        record = state.read(SESSIONS, name)
        if record.get("ended", True):
            continue
        try:
            is_idle = os.path.getmtime(record["transcript_path"]) <= before
        except OSError:
            is_idle = True
        if is_idle:
            yield record


def _forget_old_sessions() -> None:
    names = state.names(SESSIONS)
    for name in names[: max(0, len(names) - state.SESSIONS_KEPT)]:
        if state.read(SESSIONS, name).get("ended", True):
            state.remove(SESSIONS, name)


def _keep_bounds() -> None:
    """Remove the oldest of too many items: what was refused first, then what waits."""
    sizes = [
        (folder, name, os.path.getsize(os.path.join(state.home(), folder, name)))
        for folder in (REFUSED, SPOOL)
        for name in state.names(folder)
    ]
    number, size = len(sizes), sum(one for _, _, one in sizes)
    for folder, name, one in sizes:
        if number <= ITEMS_MAX and size <= BYTES_MAX:
            break
        state.remove(folder, name)
        state.log(f"too much waits: removed {folder}/{name}")
        number, size = number - 1, size - one


@contextmanager
def _alone() -> Iterator[bool]:
    """Hold the lock of the sending process, if no other does."""
    handle = os.open(state.path("sending.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            import fcntl
        except ImportError:  # sending twice at a time is harmless
            yield True
            return
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True
    finally:
        os.close(handle)
