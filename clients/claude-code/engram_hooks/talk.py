"""The calls that one event makes while the agent waits, and what the agent gets of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import TYPE_CHECKING, Any

from engram_hooks import memory_text, project, sending, state
from engram_hooks.service import NotReachedError, RefusedError, Service

if TYPE_CHECKING:
    from engram_hooks.hook import Progress

CALL_SECONDS = 5.0
PROMPT_MAX_CHARS = 20_000
QUERY_MAX_CHARS = 2_000
OPENING_PROMPT_CHARS = 2_000
SHOWN_KEPT = 500
# The session has ended, or another key started it: what follows is a session of its own.
CLOSED = {"session-ended", "session-key-taken", "session-of-another-key"}


class Talk:
    """The calls of one event; what is found is given to the agent as soon as it is there."""

    def __init__(
        self,
        event: str,
        record: dict[str, Any],
        settings: dict[str, Any],
        progress: Progress,
    ):
        self.event, self.record, self.settings, self.progress = event, record, settings, progress
        self.parts: list[str] = []
        self.late: list[str] = []

    def run(self, calls: Callable[[], None]) -> None:
        """Give what was late before; make the calls unless the service was just down."""
        root = self.settings["root"]
        if self.record["pending"]:
            self._give(self.record["pending"])
        try:
            if state.is_down(root):
                return
            self.service = Service(self.settings["url"], self.settings["key"], CALL_SECONDS)
            with closing(self.service):
                calls()
            state.note_up(root)
        except NotReachedError as error:
            state.note_down(root)
            state.log(f"{self.event}: not reached, {error}")
        except RefusedError as error:
            if error.status >= 500 or error.status in {401, 403, 429}:
                state.note_down(root, error.retry_after)
            state.log(f"{self.event}: refused, {error}")
        finally:
            self.record["pending"] = "\n".join(self.late)
            state.keep_session(self.record)

    def open(self) -> None:
        """Start the session, and give the agent its brief."""
        self._begin("")

    def ask(self, prompt: str) -> None:
        """Send a prompt; give the agent what it matches and what is recalled for it."""
        if not self.record["started"]:
            self._begin(prompt)
        if not prompt:
            return
        try:
            found = self._prompted(prompt)
        except RefusedError as error:
            if error.cause not in CLOSED and error.status != 404:
                raise
            if error.status != 404:
                sending.go_on(self.record)
            self._begin(prompt)
            found = self._prompted(prompt)
        self._show(found.get("memories"))
        if self.settings["recall_k"]:
            query = prompt[:QUERY_MAX_CHARS]
            key = sending.key_of(self.record)
            found = self.service.recall(key, query, self.settings["recall_k"])
            self._show([row.get("memory") for row in found.get("results") or ()])

    def _begin(self, prompt: str) -> None:
        """Start the session, once more as another one when its key is closed."""
        folder = self.record["cwd"]
        about = f"{project.context(folder)}\n{prompt[:OPENING_PROMPT_CHARS]}".strip()
        fields = {
            "project": self.settings["project"] or project.label(folder),
            "agent": "claude-code",
            "context": about,
            "k": self.settings["k"],
            "budget_chars": self.settings["budget_chars"],
        }
        try:
            answer = self.service.start(sending.key_of(self.record), **fields)
        except RefusedError as error:
            if error.cause not in CLOSED:
                raise
            sending.go_on(self.record)
            answer = self.service.start(sending.key_of(self.record), **fields)
        self.record["started"] = True
        self._note_shown(answer.get("memories") or ())
        self._give(str(answer.get("text") or ""))

    def _prompted(self, prompt: str) -> dict[str, Any]:
        return self.service.prompt(sending.key_of(self.record), prompt[:PROMPT_MAX_CHARS])

    def _show(self, memories: Any) -> None:
        """Give the agent the memories that this session has not shown yet."""
        found = [one for one in memories or () if isinstance(one, dict)]
        new = [one for one in found if one.get("id") not in self.record["shown"]]
        self._note_shown(new)
        self._give("\n".join(memory_text.line(one) for one in new))

    def _note_shown(self, memories: Iterable[dict[str, Any]]) -> None:
        ids = [one.get("id") for one in memories]
        self.record["shown"] = [*self.record["shown"], *ids][-SHOWN_KEPT:]

    def _give(self, text: str) -> None:
        """Add a text to what the agent gets now, or with the next prompt when it is too late."""
        if not text:
            return
        said = {
            "hookEventName": self.event,
            "additionalContext": memory_text.framed([*self.parts, text]),
        }
        written = json.dumps({"hookSpecificOutput": said}, ensure_ascii=False)
        in_time = self.progress.give(written.encode("utf-8", "replace") + b"\n")
        (self.parts if in_time else self.late).append(text)
