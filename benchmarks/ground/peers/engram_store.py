"""Engram behind the calls that its peers have: the service as a library, and over HTTP."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from datetime import datetime
from http.client import HTTPConnection
from typing import Any
from uuid import UUID

from django.utils import timezone

from benchmarks.ground.peers.peer import Item
from engram.console.scratch import refresh_statistics
from engram.kernel import keys
from engram.kernel.actors import SYSTEM
from engram.kernel.models import Role, Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from memories.services.commit.commit import commit, commit_all
from memories.services.commit.draft import Draft
from memories.services.index.pending import embed_pending
from memories.services.recall.recall import Query, recall

BATCH = 200


class Engram:
    """Commit and recall as calls in this process; a group is a workspace."""

    name = "Engram"

    def __init__(self) -> None:
        self._workspaces: dict[str, Workspace] = {}
        self._keys: dict[UUID, list[str]] = {}

    def workspace(self, group: str) -> Workspace:
        """Return the workspace of a group, made at its first use."""
        if group not in self._workspaces:
            slug = f"peer-{secrets.token_hex(6)}"
            self._workspaces[group] = Workspace.objects.create(slug=slug, name=group)
        return self._workspaces[group]

    def load(self, items: Sequence[Item], *, group: str) -> None:
        workspace = self.workspace(group)
        for start in range(0, len(items), BATCH):
            batch = items[start : start + BATCH]
            drafts = [_draft(item) for item in batch]
            results = commit_all(workspace, drafts, actor=SYSTEM, now=timezone.now())
            for item, result in zip(batch, results, strict=True):
                self._remember(item.key, result.memory)
        embed_pending(workspace)
        refresh_statistics()

    def add(self, item: Item, *, group: str) -> None:
        result = commit(self.workspace(group), _draft(item), actor=SYSTEM, now=timezone.now())
        self._remember(item.key, result.memory)

    def search(self, query: str, *, k: int, group: str) -> list[str]:
        answer = recall(
            self.workspace(group), Query(query, k=k, min_score=None), now=timezone.now()
        )
        found = [self._keys.get(result.memory.id, []) for result in answer.results]
        return [key for keys_of_one in found for key in keys_of_one]

    def count(self, group: str) -> int:
        workspace = self.workspace(group)
        with in_workspace(workspace):
            return Memory.objects.recallable(timezone.now()).count()

    def _remember(self, key: str, memory: Memory | None) -> None:
        if memory is not None:
            self._keys.setdefault(memory.id, []).append(key)


class EngramOverHttp:
    """The same workspaces through a web process, on one connection that is kept."""

    name = "Engram, HTTP"

    def __init__(self, engram: Engram, port: int) -> None:
        self._engram = engram
        self._connection = HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers: dict[str, dict[str, str]] = {}

    def load(self, items: Sequence[Item], *, group: str) -> None:
        self._engram.load(items, group=group)

    def add(self, item: Item, *, group: str) -> None:
        self._post("/api/v1/memories", {"content": item.text}, group)

    def search(self, query: str, *, k: int, group: str) -> list[str]:
        found = self._post(
            "/api/v1/memories/recall", {"query": query, "k": k, "min_score": None}, group
        )
        return [str(result["memory"]["id"]) for result in found["results"]]

    def count(self, group: str) -> int:
        return self._engram.count(group)

    def _post(self, path: str, body: dict[str, Any], group: str) -> dict[str, Any]:
        self._connection.request("POST", path, json.dumps(body), self._headers_of(group))
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status not in (200, 201):
            raise SystemExit(f"{path} answered {answer.status}: {content.decode()}")
        return dict(json.loads(content))

    def _headers_of(self, group: str) -> dict[str, str]:
        if group not in self._headers:
            workspace, now = self._engram.workspace(group), timezone.now()
            _, token = keys.issue(workspace, name="bench", role=Role.AGENT, actor=SYSTEM, now=now)
            self._headers[group] = {
                "Authorization": f"Bearer {token}",
                "Content-Type": "application/json",
            }
        return self._headers[group]


def _draft(item: Item) -> Draft:
    given = item.metadata
    return Draft(
        content=item.text,
        agent=given.get("agent", ""),
        scope=given.get("scope", ""),
        session_key=given.get("session", ""),
        observed_at=datetime.fromisoformat(given["time"]) if "time" in given else None,
    )
