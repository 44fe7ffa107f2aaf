"""Delete sessions, or erase quotes of erased memories from them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from engram.kernel.actors import Actor
from engram.kernel.history import record
from engram.kernel.idempotency import forget_answers_about
from engram.kernel.models import StageError, Workspace
from engram.kernel.tenancy import in_workspace
from memories.core.spelling import INVISIBLE
from memories.models import Memory, Observation, Session, SessionPrompt
from memories.services.locks import lock
from memories.services.pieces import delete_quoting, may_quote
from memories.services.sessions.access import lock_session
from memories.services.sessions.erase_extracted import erase_extracted_of
from memories.services.sessions.reported import erase_reasons_of
from memories.signals import session_erased

# Texts are compared as `letters()` folds them, rows hold them as they were sent. A piece leaves out
# characters that folding may produce from another one (ß, ﬁ, ſ, ı, the Kelvin sign), and letters
# next to a non-ASCII one, with which they may be composed.
_FOLDED = re.compile(r"s[st]*|f[fil]+|k|i|[a-z](?=[^\x00-\x7f])|(?<=[^\x00-\x7f])[a-z]")
# Characters that folding drops or narrows within a word: rows that contain one are always read.
HIDING = f"{INVISIBLE}|[\uff01-\uff5e]"
_WORD = re.compile(r"[a-z0-9]+")
_TEXTS = ("transcript", "context")


def delete_session(workspace: Workspace, session_key: str, *, actor: Actor, now: datetime) -> None:
    """Delete a session with its transcript and records; the event stays in history.

    The memories that were committed in it stay, and name no session any more: another one may be
    started under the same key. The counters of memories do not change.
    """
    with in_workspace(workspace):
        memories = _lock_memories_of(session_key)
        session = lock_session(session_key)
        data = {
            "records": session.candidates.count(),
            "prompts": session.prompt_count,
            "memories": _detach(memories, session),
        }
        record(
            "session.deleted",
            of=("session", session.id),
            actor=actor,
            now=now,
            session_key=session_key,
            data=data,
        )
        erase_extracted_of(session_key)
        erase_reasons_of(session)
        StageError.objects.filter(session_key=session_key).delete()
        session_erased.send(Session, session=session, now=now)
        session.delete()
        forget_answers_about("session_key", session_key)


def _lock_memories_of(session_key: str) -> list[Memory]:
    """Lock the memories that were stated in a session; memories are locked before sessions."""
    stated = Observation.objects.filter(session_key=session_key).values("memory")
    return lock(list(Memory.objects.filter(pk__in=stated).values_list("pk", flat=True)))


def _detach(memories: Iterable[Memory], session: Session) -> int:
    """Empty the session key of what was stated in a session; return the number of memories.

    Other API keys may have stated something under the same session key, which stays theirs.
    """
    stated = {"session_key": session.session_key, "key_id": session.key_id}
    own = Memory.objects.filter(pk__in=[memory.pk for memory in memories], **stated)
    Observation.objects.filter(**stated).update(session_key="")
    return own.update(session_key="")


def pieces_of(texts: Iterable[str]) -> list[str]:
    """Return patterns, one of which every row contains that quotes one of these texts.

    The longest plain piece of each text, "" where it has none; matched case-insensitively.
    """
    return [*(max(plain_pieces(text), key=len, default="") for text in texts), HIDING]


def plain_pieces(normalised: str) -> list[str]:
    """Return the pieces contained in every text that normalises to this one, ignoring case."""
    return _WORD.findall(_FOLDED.sub(" ", normalised))


def erase_quotes(quoted_in: Callable[[Any], bool], texts: Iterable[str]) -> list[UUID]:
    """Erase every transcript, context and prompt that quotes one of these texts.

    Return the sessions whose context was erased: rankers learn from contexts.

    Reads only rows that contain a piece of one of the texts. Digests are erased too, because the
    text of a short one can be guessed.
    """
    pieces = pieces_of(texts)
    delete_quoting(SessionPrompt, ["text"], quoted_in, pieces)
    near = may_quote(pieces, *_TEXTS)
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
