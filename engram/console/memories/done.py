"""What was done to memories last, named in the address, with the button that undoes it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit
from uuid import UUID

from django.http import HttpRequest

from engram.kernel.labels import Count
from engram.kernel.literals import row_id

MOST_AT_ONCE: Final = 100
# What can be done to many memories, in words for what was done, and what undoes it.
ACTIONS: Final[dict[str, tuple[str, str]]] = {
    "forget": ("forgotten", "restore"),
    "restore": ("brought back", "forget"),
    "pin": ("pinned", "unpin"),
    "unpin": ("no longer pinned", "pin"),
    "tag": ("tagged", "untag"),
    "untag": ("without the tag", "tag"),
}
REVISED: Final = "revised"
TICKED: Final = "ticked"
CHANGED: Final = "revision"  # the one that a change of one memory made
PARAMETERS: Final = ("done", "ids", "tag_done", TICKED, CHANGED)


@dataclass(frozen=True, slots=True)
class Done:
    """The last action; `undo` is the action that reverts it, `ids` are the memories changed."""

    words: str
    undo: str
    ids: tuple[UUID, ...] = ()
    tag: str = ""
    back: str = ""


def ids_of(text: str) -> tuple[UUID, ...]:
    """Return the ids in a text, separated by dots, at most `MOST_AT_ONCE`; skip what is none."""
    found = (row_id(part) for part in text.split(".")[:MOST_AT_ONCE])
    return tuple(dict.fromkeys(one for one in found if one is not None))


def done_in(request: HttpRequest) -> Done | None:
    """Return what the address says was done to many memories; None if it names nothing."""
    named = ACTIONS.get(request.GET.get("done", ""))
    ids = ids_of(request.GET.get("ids", ""))
    if named is None or not ids:
        return None
    words, undo = named
    tag = request.GET.get("tag_done", "")[:100]
    told = f"{Count(len(ids)):memory|memories} {words}" + (f": {tag}" if tag else "")
    return Done(told, undo, ids, tag, without_done(request.get_full_path()))


def add_done(address: str, action: str, ids: Collection[UUID] = (), tag: str = "") -> str:
    """Return an address of ours that also says what was done."""
    return _with(address, {"done": action, "ids": ".".join(map(str, ids)), "tag_done": tag})


def add_changed(address: str, action: str, revision: int) -> str:
    """Return an address of ours that also says what the last revision of one memory did."""
    return _with(address, {"done": action, CHANGED: str(revision) if action else ""})


def changed_in(request: HttpRequest, revision: int) -> str:
    """Return what the address says the last revision did; "" if a later one came since."""
    done = request.GET.get("done", "")
    is_last = request.GET.get(CHANGED) == str(revision)
    return done if is_last and done in {REVISED, "pin", "unpin"} else ""


def add_ticks(address: str, ids: Collection[UUID]) -> str:
    """Return an address of ours that keeps what was ticked, where nothing was done."""
    return _with(address, {TICKED: ".".join(map(str, list(ids)[:MOST_AT_ONCE]))})


def _with(address: str, more: Mapping[str, str]) -> str:
    parts = urlsplit(without_done(address))
    query = parse_qsl(parts.query) + [(name, value) for name, value in more.items() if value]
    return parts._replace(query=urlencode(query)).geturl()


def without_done(address: str) -> str:
    """Return an address without what was done."""
    parts = urlsplit(address)
    query = [(name, value) for name, value in parse_qsl(parts.query) if name not in PARAMETERS]
    return parts._replace(query=urlencode(query)).geturl()
