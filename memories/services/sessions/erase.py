"""Taking sessions, or erased words within them, out for good."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from engram.kernel.actors import Actor
from engram.kernel.history import record
from engram.kernel.idempotency import forget_answers_about
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.core.spelling import UNSEEN
from memories.models import Session
from memories.services.sessions.prompts import lock_session
from memories.signals import session_erased

# Texts are compared as `letters()` folds them, rows hold them as they were sent. Left out of a word
# is what folding may have made of another character (ß, ﬁ, ſ, ı, the Kelvin sign), and the letters
# next to one that is not ASCII, which it may have been one with.
_FOLDED = re.compile(r"s[st]*|f[fil]+|k|i|[a-z](?=[^\x00-\x7f])|(?<=[^\x00-\x7f])[a-z]")
# Characters that folding drops or narrows anywhere in a word: what holds one is read in any case.
HIDING = f"{UNSEEN}|[\uff01-\uff5e]"
_WORD = re.compile(r"[a-z0-9]+")
_TEXTS = ("transcript", "context")


def delete_session(workspace: Workspace, session_key: str, *, actor: Actor, now: datetime) -> None:
    """Delete a session with its transcript and records; history keeps that it was done.

    What it added to the counters of memories stays.
    """
    with in_workspace(workspace):
        session = lock_session(session_key)
        told = {"records": session.candidates.count(), "prompts": session.prompt_count}
        record(
            "session.deleted",
            of=("session", session.id),
            actor=actor,
            now=now,
            session_key=session_key,
            data=told,
        )
        session_erased.send(Session, session=session, now=now)
        session.delete()
        forget_answers_about("session_key", session_key)


def pieces_of(texts: Iterable[str]) -> list[str]:
    """Return patterns of which every row that quotes one of these texts holds one, in any case.

    The longest plain piece of each text, "" where it has none.
    """
    return [*(max(plain_pieces(text), key=len, default="") for text in texts), HIDING]


def plain_pieces(normalised: str) -> list[str]:
    """Return what every text that normalises to this holds, but for case and what hides in it."""
    return _WORD.findall(_FOLDED.sub(" ", normalised))


def erase_quotes(quoted_in: Callable[[Any], bool], texts: Iterable[str]) -> list[UUID]:
    """Drop every transcript and context that quotes one of these texts.

    Return the sessions whose context was dropped: rankers learn from contexts.

    Read are only those that hold a piece of one of them. Digests go too: of a text so short that it
    can be guessed they would tell it.
    """
    near = Q()
    for piece in pieces_of(texts):
        for name in _TEXTS:
            near |= Q(**{f"{name}__iregex": piece}) if piece else ~Q(**{name: ""})
    rows = Session.objects.filter(near).order_by("pk").only("pk", *_TEXTS)
    quoting = [
        (row.pk, [name for name in _TEXTS if quoted_in(getattr(row, name))])
        for row in rows.iterator(chunk_size=50)
    ]
    for pk, names in quoting:
        if not names:
            continue
        changes: dict[str, Any] = dict.fromkeys(names, "")
        if "transcript" in names:
            changes["transcript_digest"] = ""
        if "context" in names:
            changes["context_embedding"] = None
        Session.objects.filter(pk=pk).update(prompt_digests=[], **changes)
    return [pk for pk, names in quoting if "context" in names]
