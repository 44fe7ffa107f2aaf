"""Idempotency-Key: a write that is sent twice is done once, and answered alike.

The answer is kept in the transaction of the work, so that a crash leaves both or neither (but for
work of many transactions, which says that it bears being done again: the janitor's run). It is
kept for 24 hours, and no longer than what it shows: forgetting, erasing and deleting take the text
out of it.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import DatabaseError
from django.db.models import Q, QuerySet

from engram.kernel.causes import ANSWER_NOT_KEPT, KEY_REUSED, WRITTEN_MEANWHILE
from engram.kernel.collisions import AGAIN, is_collision, is_deadlock
from engram.kernel.locks import one_at_a_time
from engram.kernel.models import AnsweredThing, IdempotentAnswer, Workspace
from engram.kernel.refusals import InvalidError, StaleError
from engram.kernel.tenancy import in_one_transaction, in_workspace

log = logging.getLogger(__name__)
HEADER = "Idempotency-Key"
KEY_PATTERN = r"^[!-~]{1,255}$"
_KEY = re.compile(KEY_PATTERN)
KEPT_FOR = timedelta(hours=24)
PATH_CHARS = 300
_UUID = re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b")


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """What a write answers: JSON as it is sent, None when it must not be kept."""

    status: int
    body: str | None


@dataclass(frozen=True, slots=True)
class IdempotentWrite:
    """One write that a caller may send again, named by a key of their own."""

    workspace: Workspace
    caller: str
    key: str
    path: str
    digest: str
    now: datetime


class _AnsweredError(Exception):
    """The write was done before."""

    def __init__(self, answer: StoredAnswer):
        super().__init__(answer.status)
        self.answer = answer


def validate_key(key: str) -> str:
    """Return a sane key, or refuse it."""
    if _KEY.fullmatch(key) is None:
        raise InvalidError(HEADER, "Must be 1 to 255 visible ASCII characters.")
    return key


def digest_of(path: str, body: Any) -> str:
    """Return what tells two writes apart; neither white space nor the order of names does."""
    canonical = json.dumps([path, body], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def once(
    ask: IdempotentWrite, work: Callable[[], StoredAnswer], *, is_joint: bool = True
) -> StoredAnswer | None:
    """Return the first answer to a write that was done; else do it, keep its answer, return None.

    Two callers at once: the second waits for the first and gets its answer. What raises is not
    kept, and nothing of it stays. Unless `is_joint`, the work keeps its own transactions and must
    bear being done again (at once, or after a crash); the answer that is kept first is the answer.
    """
    try:
        with in_workspace(ask.workspace):
            _raise_known(ask)
        if not is_joint:
            _keep_first(ask, work())
            return None
        with in_one_transaction(lambda: _claim(ask)):
            answer = work()
            with in_workspace(ask.workspace):
                _keep(ask, answer)
    except _AnsweredError as known:
        if known.answer.body is None:
            raise StaleError(
                f"This was done already (with the answer {known.answer.status}), but its answer "
                "is not kept: it held a secret, or showed what was forgotten or deleted since.",
                cause=ANSWER_NOT_KEPT,
            ) from None
        return known.answer
    except DatabaseError as error:  # references are checked when the transaction ends
        if not is_collision(error):
            raise
        if is_deadlock(error):
            log.warning("a write under a key met another in a deadlock")
        raise StaleError(AGAIN, cause=WRITTEN_MEANWHILE) from error
    return None


def _claim(ask: IdempotentWrite) -> None:
    """Let one transaction at a time work under a key; the others find its answer."""
    one_at_a_time(f"answer:{ask.workspace.pk}:{ask.caller}:{ask.key}")
    _raise_known(ask)


def _raise_known(ask: IdempotentWrite) -> None:
    """Raise the kept answer to the same write; refuse another one under the same key."""
    known = IdempotentAnswer.objects.filter(caller=ask.caller, key=ask.key).first()
    if known is None:
        return
    if known.created_at <= ask.now - KEPT_FOR:
        known.delete()
        return
    if known.digest != ask.digest:
        raise StaleError(
            f"This {HEADER} was used for another request within 24 hours.", cause=KEY_REUSED
        )
    raise _AnsweredError(StoredAnswer(known.status, known.body))


def _keep_first(ask: IdempotentWrite, answer: StoredAnswer) -> None:
    """Keep the answer of work that is done, or raise the one that was kept meanwhile."""
    with in_workspace(ask.workspace):
        _claim(ask)
        _keep(ask, answer)


def _keep(ask: IdempotentWrite, answer: StoredAnswer) -> None:
    row = IdempotentAnswer.objects.create(
        caller=ask.caller,
        key=ask.key,
        path=ask.path[:PATH_CHARS],
        digest=ask.digest,
        status=answer.status,
        body=answer.body,
        created_at=ask.now,
    )
    shown = dict.fromkeys(_UUID.findall(answer.body or ""))
    AnsweredThing.objects.bulk_create(AnsweredThing(answer=row, thing_id=UUID(i)) for i in shown)


def forget_answers(ids: Iterable[UUID]) -> int:
    """Take the text out of every kept answer that shows one of these things; return how many.

    The rows stay: the writes were done, and are not done again. Within the transaction that
    forgets or erases.
    """
    shown = AnsweredThing.objects.filter(thing_id__in=list(ids)).values("answer_id")
    return IdempotentAnswer.objects.filter(pk__in=shown).exclude(body=None).update(body=None)


def forget_answers_about(name: str, value: str) -> int:
    """Take the text out of every kept answer whose field `name` is `value`; return how many."""
    # As answers are written: two separators of lines are escaped in them, and nothing else.
    written = json.dumps({name: value}, ensure_ascii=False, separators=(",", ":"))[1:-1]
    written = written.replace("\u2028", r"\u2028").replace("\u2029", r"\u2029")
    kept = IdempotentAnswer.objects.filter(body__contains=written)
    bodies = kept.values_list("pk", "body").iterator()
    about = [pk for pk, body in bodies if _field(json.loads(body or ""), name) == value]
    return IdempotentAnswer.objects.filter(pk__in=about).update(body=None)


def _field(body: Any, name: str) -> Any:
    return body.get(name) if isinstance(body, dict) else None


def forget_quotes(quoted_in: Callable[[Any], bool], pieces: Iterable[str]) -> int:
    """Take the text out of every kept answer that quotes a text without naming its id.

    Read are only the answers that hold one of the pieces: patterns of which all spellings of the
    texts hold one, in whatever case, "" where there is no such thing.
    """
    near = Q()
    for piece in pieces:
        near |= Q(body__iregex=piece) if piece else ~Q(body=None)
    kept = IdempotentAnswer.objects.exclude(body=None).filter(near)
    quoting = [row.pk for row in kept.iterator() if quoted_in(json.loads(row.body or "null"))]
    return IdempotentAnswer.objects.filter(pk__in=quoting).update(body=None)


def old_answers(now: datetime) -> QuerySet[IdempotentAnswer]:
    """Return the answers that are kept no longer."""
    return IdempotentAnswer.objects.filter(created_at__lte=now - KEPT_FOR)


def drop_old_answers(workspace: Workspace, *, now: datetime) -> int:
    """Delete what is older than 24 hours; return how many answers."""
    with in_workspace(workspace):
        return old_answers(now).delete()[1].get(IdempotentAnswer._meta.label, 0)
