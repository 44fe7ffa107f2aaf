"""What each event of the agent does.

SessionStart starts a session of Engram and gives the agent its brief. UserPromptSubmit sends the
prompt and gives the agent what it matches. SessionEnd leaves the transcript to another process.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

from engram_hooks import sending, state

if TYPE_CHECKING:
    from engram_hooks.hook import Progress


def handle(raw: bytes, progress: Progress) -> None:
    """Handle one event; `progress` gets the text for the agent."""
    payload = json.loads(raw)
    session_id, folder = str(payload.get("session_id") or ""), str(payload.get("cwd") or "")
    event = _EVENTS.get(str(payload.get("hook_event_name")))
    if not session_id or event is None:
        return
    record = state.session(session_id)
    # A session stays with the settings that it began with, wherever the agent goes.
    root = str(record["root"]) if record else state.root_at(folder)
    settings = state.settings_of(root)
    if settings is None:
        if root and not record:  # of a project that is left out, also when the agent leaves it
            state.keep_session({**_new_record(session_id, folder, root), "ended": True})
        return
    record = record or _new_record(session_id, folder, root)
    record["transcript_path"] = str(payload.get("transcript_path") or record["transcript_path"])
    event(payload, record, settings, progress)


def _session_start(
    payload: dict[str, Any], record: dict[str, Any], settings: dict[str, Any], progress: Progress
) -> None:
    source = payload.get("source")
    if record["is_new"] and source != "compact":
        # A resumed transcript begins with what was said in another session.
        record["since"] = sending.moment(-1)
    if record["ended"]:
        sending.next_part(record)
    if source in {"compact", "clear"}:
        record["shown"] = []  # the agent no longer has it before it
    record["is_new"] = False
    state.keep_session(record)
    if sending.is_due():
        send_in_background()
    if not state.is_down(settings["root"]):
        from engram_hooks.talk import Talk

        talk = Talk("SessionStart", record, settings, progress)
        talk.run(talk.open)


def _prompt(
    payload: dict[str, Any], record: dict[str, Any], settings: dict[str, Any], progress: Progress
) -> None:
    if record["ended"]:
        sending.next_part(record)
    record["is_new"] = False
    state.keep_session(record)
    prompt = str(payload.get("prompt") or "").strip()
    if record["pending"] or (prompt and not state.is_down(settings["root"])):
        from engram_hooks.talk import Talk

        talk = Talk("UserPromptSubmit", record, settings, progress)
        talk.run(lambda: talk.ask(prompt))


def _session_end(
    payload: dict[str, Any], record: dict[str, Any], settings: dict[str, Any], progress: Progress
) -> None:
    if record["ended"]:
        return
    sending.leave(record, sending.moment())
    send_in_background()


_EVENTS = {
    "SessionStart": _session_start,
    "UserPromptSubmit": _prompt,
    "SessionEnd": _session_end,
}


def send_in_background() -> None:
    """Start the process that sends what waits; it outlives the agent."""
    import subprocess

    hook = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hook.py")
    subprocess.Popen(  # noqa: S603  this interpreter and this file
        [sys.executable, "-I", "-S", hook, "--send"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=state.home(),
        start_new_session=True,
    )


def _new_record(session_id: str, folder: str, root: str) -> dict[str, Any]:
    """Return what is known of a new session: its transcript counts from the beginning."""
    return {
        "session_id": session_id,
        "root": root,
        "cwd": folder,
        "transcript_path": "",
        "part": 1,
        "since": "",
        "until": "",
        "started": False,
        "ended": False,
        "is_new": True,
        "shown": [],
        "pending": "",
    }
