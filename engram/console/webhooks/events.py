"""What is sent: the kinds that can be chosen, and the body of a delivery.

A body has ids, kinds, numbers and a link, and never a text of a memory, a note or a person: what
was sent cannot be taken back when it is forgotten or erased. Who wants a text reads it by the id,
with a key, as long as it is there.
"""

from __future__ import annotations

import json
from datetime import UTC
from typing import Any, Final
from urllib.parse import quote

from django.conf import settings

from engram.console.models import WebhookDelivery
from engram.console.wording import WORDS
from engram.kernel.models import Workspace

TEST: Final = "webhook.test"  # sent on request, whatever was chosen
DIGEST: Final = "digest.daily"
# A closed workspace sends nothing any more, and so cannot tell that it was closed.
KINDS: Final = tuple(sorted(set(WORDS) - {"workspace.closed"}))
# The pages of objects, by their kind. Written out, because the worker that sends loads no pages.
PAGES: Final = {
    "conflict": "/console/conflicts/{id}/",
    "memory": "/console/memories/{id}/",
    "note": "/console/notes/{id}/",
    "review": "/admin/memories/review/{id}/change/",
    "webhook": "/admin/console/webhookendpoint/{id}/change/",
    "digest": "/console/inbox/",
}
INBOX_ITEM: Final = "/console/inbox/?item={source}:{id}"
OTHER_PAGE: Final = "/admin/kernel/event/?q={id}"


def link_to(object_type: str, object_id: str) -> str:
    """Return the address of the page about an object; of its history where it has no page."""
    page = PAGES.get(object_type, OTHER_PAGE).format(id=quote(object_id, safe=""))
    return f"{settings.ENGRAM_PUBLIC_URL}{page}"


def body_of(delivery: WebhookDelivery, workspace: Workspace) -> bytes:
    """Return the body of a delivery, the same for each attempt, as JSON in UTF-8."""
    body = {
        "type": delivery.kind,
        "timestamp": delivery.at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "data": {
            "workspace": {"id": str(workspace.pk), "slug": workspace.slug},
            "event": delivery.event_seq,
            "object": {"type": delivery.object_type, "id": delivery.object_id},
            "link": link_to(delivery.object_type, delivery.object_id),
            **_more(delivery),
        },
    }
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def _more(delivery: WebhookDelivery) -> dict[str, Any]:
    """Return what a digest says: how many questions are open, and links to the most urgent."""
    if delivery.kind != DIGEST:
        return {}
    items = [
        {**item, "link": settings.ENGRAM_PUBLIC_URL + INBOX_ITEM.format(**item)}
        for item in delivery.data["items"]
    ]
    return {"open": delivery.data["open"], "items": items}
