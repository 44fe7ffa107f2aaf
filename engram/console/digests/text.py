"""The text of a digest's mail: plain, so that nothing in it is markup.

It says how many items of which kind are open and where to answer them. A mail cannot be taken
back when a memory is forgotten, so titles of items, which quote memories, stand in it only where a
workspace's setting says so.
"""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Final

from django.conf import settings

from engram.console.digests.waiting import Waiting
from engram.kernel.labels import Count, printable
from engram.kernel.middleware import zone_of
from engram.kernel.models import Workspace

TITLE_CHARS: Final = 200
INBOX: Final = "/console/inbox/"
PAGE: Final = "/console/digest/"


def subject_of(workspace: Workspace, found: Waiting) -> str:
    """Return the subject, in one line."""
    return f"{Count(found.total):item} open in {one_line(workspace.name)}"


def text_of(workspace: Workspace, found: Waiting) -> str:
    """Return the text for who may see what was found."""
    zone, config = zone_of(workspace), workspace.config
    verb = "is" if found.total == 1 else "are"
    lines = [f"{Count(found.total):item} {verb} open in {one_line(workspace.name)}:", ""]
    for source, counted in found.kinds:
        since = f", the oldest since {_day(counted.oldest, zone)}" if counted.oldest else ""
        lines.append(f"  {source.title}: {counted.count}{since}")
        lines.append(f"    {_link(INBOX)}?source={source.name}")
    lines += ["", "The most urgent:", ""]
    titles = {source.name: source.title for source, _ in found.kinds}
    for entry in found.entries:
        kind = f"{titles[entry.mark.source]}: {entry.kind.replace('_', ' ')}"
        about = f": {one_line(entry.title)}" if config.digest_texts else ""
        since = _day(entry.mark.since, zone)
        lines.append(f"  {one_line(kind)}, {entry.severity}, since {since}{about}")
        lines.append(f"    {_link(INBOX)}?item={entry.key}")
    hour = f"{config.digest_hour:02d}:00 ({config.time_zone})"
    lines += ["", f"All: {_link(INBOX)}", "", "-- "]
    lines.append(f"You asked for this each day at {hour} on which items are open.")
    lines.append(f"Change it: {_link(PAGE)}")
    return "\n".join(lines) + "\n"


def one_line(text: str) -> str:
    """Return a text in one printable line, cut."""
    shown = printable(text)
    return shown if len(shown) <= TITLE_CHARS else f"{shown[: TITLE_CHARS - 1]}…"


def _day(moment: datetime, zone: tzinfo) -> str:
    return f"{moment.astimezone(zone):%-d %b %Y}"


def _link(path: str) -> str:
    return f"{settings.ENGRAM_PUBLIC_URL}{path}"
