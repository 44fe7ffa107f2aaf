"""A LangGraph store in Engram: `pip install engram-client[langgraph]`.

Each item is a memory with a scope of its own, `langgraph/users/ana/=key`, and its value in the
memory's metadata. So items are exact, and are also recalled, compared and shown to people like
every memory. What differs from other stores:

- a value and its text have together at most 8 KB as JSON, the names together 300 characters;
- what looks like a credential, or would overwrite what a person decided, is refused (it raises);
- what is deleted is forgotten: nothing returns it, and people can restore it;
- every item is searched (`index` must be None), and there is no `ttl`;
- with a query, a filter looks at the 100 best items; `list_namespaces` reads all items.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from operator import ge, gt, le, lt
from typing import Any
from urllib.parse import quote

from langgraph.store.base import (
    BaseStore,
    GetOp,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from engram_client._sync import Engram
from engram_client.errors import EngramError
from engram_client.types import Memory

MARK = "langgraph"
BEST = 100  # most that one recall returns
PAGE = 200
_TEXT_FIELDS = ("text", "content", "memory", "data")
Namespace = tuple[str, ...]


def text_of(value: Mapping[str, Any]) -> str:
    """Return what is searched of a value: its text, else all of it as JSON."""
    texts = [value[name] for name in _TEXT_FIELDS if isinstance(value.get(name), str)]
    return next((text for text in texts if text.strip()), json.dumps(value, ensure_ascii=False))


class EngramStore(BaseStore):
    """A store of one workspace, below the scope `root`; `text` says what of a value is searched."""

    def __init__(
        self,
        engram: Engram,
        *,
        root: str = MARK,
        text: Callable[[Mapping[str, Any]], str] = text_of,
    ):
        self._engram, self._root, self._text = engram, root, text

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Read for all operations, then write: of several puts of an item the last counts."""
        results: list[Result] = []
        puts: dict[tuple[Namespace, str], PutOp] = {}
        for op in ops:
            if isinstance(op, PutOp):
                puts[op.namespace, op.key] = op
            results.append(None if isinstance(op, PutOp) else self._read(op))
        for put in puts.values():
            self._put(put)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the same without blocking the event loop."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            return next((_item(one) for one in self._of(op.namespace, op.key)), None)
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        raise ValueError(f"unknown operation: {type(op).__name__}")

    def _put(self, op: PutOp) -> None:
        if op.index is not None or op.ttl is not None:
            raise ValueError("Engram searches every item and has no ttl: leave index and ttl out")
        known = list(self._of(op.namespace, op.key))
        gone = known if op.value is None else known[1:]
        if gone:
            answer = self._engram.memories.forget(ids=[one["id"] for one in gone], confirm=True)
            if answer.get("review"):
                raise EngramError(f"a person must agree before {op.key!r} is deleted")
        if op.value is not None:
            self._write(op, op.value, known[0] if known else None)

    def _write(self, op: PutOp, value: Mapping[str, Any], known: Memory | None) -> None:
        fields: dict[str, Any] = {
            "content": self._text(value),
            "metadata": {
                MARK: {"namespace": list(op.namespace), "key": op.key, "value": dict(value)}
            },
        }
        if known is None:
            scope = self._scope(op.namespace, op.key)
            made: Any = self._engram.memories.commit(**fields, scope=scope, revive=True)
            known = made.get("memory")
            if known is not None and known["metadata"] == fields["metadata"]:
                return
            # Another process was first, or a deleted item is back with its old value.
        changed: Any = known and self._engram.memories.update(known["id"], **fields)
        if not changed or "review" in changed:
            raise EngramError(f"a person must agree before {op.key!r} is written")

    def _search(self, op: SearchOp) -> list[SearchItem]:
        found = (one for one in self._candidates(op) if _is_wanted(one.value, op.filter))
        return list(islice(found, op.offset, op.offset + op.limit))

    def _candidates(self, op: SearchOp) -> Iterator[SearchItem]:
        """Yield the items below a namespace: with a query the best first, else the newest."""
        if not op.query:
            yield from map(_item, self._below(op.namespace_prefix))
            return
        wanted = BEST if op.filter else min(BEST, op.offset + op.limit)
        if wanted <= 0:
            return
        scope = self._scope(op.namespace_prefix)
        answer = self._engram.recall(op.query, k=wanted, scope=scope, min_score=None)
        for row in answer["results"]:
            if MARK in row["memory"]["metadata"]:
                yield _item(row["memory"], score=row["score"])

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        all_of_them = {_item(one).namespace for one in self._below(())}
        matching = {
            namespace[: op.max_depth]
            for namespace in all_of_them
            if all(_matches(namespace, condition) for condition in op.match_conditions or ())
        }
        return sorted(matching)[op.offset : op.offset + op.limit]

    def _of(self, namespace: Namespace, key: str) -> Iterator[Memory]:
        """Yield the memories of an item: one, unless two processes wrote it at once."""
        return self._listed(self._scope(namespace, key))

    def _below(self, namespace: Namespace) -> Iterator[Memory]:
        return self._listed(self._scope(namespace))

    def _listed(self, scope: str) -> Iterator[Memory]:
        for one in self._engram.memories.list(scope=scope, limit=PAGE):
            if MARK in one["metadata"]:
                yield one

    def _scope(self, namespace: Namespace, key: str | None = None) -> str:
        """Return the scope of a namespace, or of an item in it, which no namespace can have."""
        parts = [self._root, *(_segment(label) for label in namespace)]
        return "/".join(parts if key is None else [*parts, f"={_segment(key)}"])


def _segment(name: str) -> str:
    """Return a name as one part of a scope; different names are different parts."""
    return quote(name, safe="@:,;+~!$&'()*") or "%"


def _item(memory: Memory, score: float | None = None) -> SearchItem:
    stored = memory["metadata"][MARK]
    return SearchItem(
        namespace=tuple(stored["namespace"]),
        key=stored["key"],
        value=stored["value"],
        created_at=datetime.fromisoformat(memory["created_at"]),
        updated_at=datetime.fromisoformat(memory["updated_at"]),
        score=score,
    )


def _is_wanted(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    return all(_compares(value.get(name), one) for name, one in (wanted or {}).items())


def _compares(value: Any, wanted: Any) -> bool:
    """Return whether a field is as a filter wants it: equal, or by operators such as `$gt`."""
    if not isinstance(wanted, Mapping):
        return bool(value == wanted)
    if any(str(name).startswith("$") for name in wanted):
        return all(_operated(value, name, bound) for name, bound in wanted.items())
    return isinstance(value, Mapping) and _is_wanted(value, wanted)


def _operated(value: Any, operator: str, bound: Any) -> bool:
    if operator in {"$eq", "$ne"}:
        return bool(value == bound) is (operator == "$eq")
    if operator not in _ORDERS:
        raise ValueError(f"unsupported operator: {operator}")
    return value is not None and _ORDERS[operator](float(value), float(bound))


_ORDERS: dict[str, Callable[[float, float], bool]] = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}


def _matches(namespace: Namespace, condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    is_prefix = condition.match_type == "prefix"
    part = namespace[: len(path)] if is_prefix else namespace[len(namespace) - len(path) :]
    return all(wanted in {"*", label} for wanted, label in zip(path, part, strict=True))


__all__ = ["EngramStore", "text_of"]
