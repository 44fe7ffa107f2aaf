"""Idempotency-Key: run a repeated write once, and return the stored response.

The response is stored in the transaction of the work, so that a crash leaves both or neither
(except for work of many transactions, which must be idempotent: the janitor's run). It is stored
for 24 hours; forgetting, erasing and deleting remove the texts that it contains earlier.
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
    """The response to a write; `body` is JSON, or None when it must not be stored."""

    status: int
    body: str | None


@dataclass(frozen=True, slots=True)
class IdempotentWrite:
    """One write that a caller may repeat, identified by the caller's Idempotency-Key."""

    workspace: Workspace
    caller: str
    key: str
    path: str
    digest: str
    now: datetime


class _AnsweredError(Exception):
    """The write was done before; carries its stored response."""

    def __init__(self, answer: StoredAnswer):
        super().__init__(answer.status)
        self.answer = answer


def validate_key(key: str) -> str:
    """Return a valid key, or raise."""
    if _KEY.fullmatch(key) is None:
        raise InvalidError(HEADER, "Must be 1 to 255 visible ASCII characters.")
    return key


def digest_of(path: str, body: Any) -> str:
    """Return the digest of a write; white space and the order of names do not change it."""
    canonical = json.dumps([path, body], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def once(
    ask: IdempotentWrite, work: Callable[[], StoredAnswer], *, is_joint: bool = True
) -> StoredAnswer | None:
    """Return the stored response of a repeated write; else do it and store its response.

    New work returns None. A concurrent second caller waits for the first and gets its response.
    Work that raises is rolled back and stores nothing. Unless `is_joint`, the work uses its own
    transactions and must be idempotent (it can run concurrently or again after a crash); the first
    stored response counts.
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
    except DatabaseError as error:  # foreign keys are checked when the transaction ends
        if not is_collision(error):
            raise
        if is_deadlock(error):
            log.warning("a write under a key met another in a deadlock")
        raise StaleError(AGAIN, cause=WRITTEN_MEANWHILE) from error
    return None


def _claim(ask: IdempotentWrite) -> None:
    """Lock the key until the transaction ends; others then find the stored response."""
    one_at_a_time(f"answer:{ask.workspace.pk}:{ask.caller}:{ask.key}")
    _raise_known(ask)


def _raise_known(ask: IdempotentWrite) -> None:
    """Raise the stored response of the same write; refuse another write with the same key."""
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
    """Store the response of finished work, or raise the one that was stored meanwhile."""
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
    """Remove the bodies of stored responses that show one of these objects; return their number.

    The rows stay, so that the writes are not repeated. Runs in the transaction that forgets or
    erases.
    """
    shown = AnsweredThing.objects.filter(thing_id__in=list(ids)).values("answer_id")
    return IdempotentAnswer.objects.filter(pk__in=shown).exclude(body=None).update(body=None)


def forget_answers_about(name: str, value: str) -> int:
    """Remove the bodies of stored responses whose field `name` is `value`; return their number."""
    # Encoded as responses are: only two line separators are escaped.
    written = json.dumps({name: value}, ensure_ascii=False, separators=(",", ":"))[1:-1]
    written = written.replace("\u2028", r"\u2028").replace("\u2029", r"\u2029")
    kept = IdempotentAnswer.objects.filter(body__contains=written)
    bodies = kept.values_list("pk", "body").iterator()
    about = [pk for pk, body in bodies if _field(json.loads(body or ""), name) == value]
    return IdempotentAnswer.objects.filter(pk__in=about).update(body=None)


def _field(body: Any, name: str) -> Any:
    return body.get(name) if isinstance(body, dict) else None


def forget_quotes(quoted_in: Callable[[Any], bool], pieces: Iterable[str]) -> int:
    """Remove the bodies of stored responses that quote a text.

    Reads only responses that contain one of the pieces: patterns contained in all spellings of the
    texts, in any case; "" where there is none.
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
    """Delete stored responses older than 24 hours; return their number."""
    with in_workspace(workspace):
        return old_answers(now).delete()[1].get(IdempotentAnswer._meta.label, 0)
