"""Many events of one kind by one statement, in order, as single ones are written."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch
from uuid import UUID

from engram.kernel import history
from engram.kernel.actors import SYSTEM
from engram.kernel.history import record, record_each, record_unsent
from engram.kernel.models import Event
from engram.kernel.tenancy import in_workspace
from tests.conftest import NOW, Tenant
from tests.statements import statements

DATA = {"note": "50 % of it's \\ é\n", "n": 3, "more": [None, {"deep": True}]}


def fields(seq: int) -> dict[str, Any]:
    [values] = Event.objects.filter(seq=seq).values()
    return {name: value for name, value in values.items() if name != "seq"}


def test_events_written_at_once_are_those_written_one_by_one(
    tenant: Tenant, neighbour: Tenant
) -> None:
    ids = [UUID(int=n) for n in (9, 3, 7)]
    sent: list[tuple[Any, ...]] = []

    def listen(*place: Any, **more: Any) -> None:
        sent.append((*place, more))

    with in_workspace(tenant.workspace), patch.object(history, "publish", listen):
        alone = [record("a.b", of=("memory", one), actor=SYSTEM, now=NOW, data=DATA) for one in ids]
        told, sent = sent, []
        with statements() as asked:
            record_each("a.b", ((i, DATA) for i in ids), of="memory", actor=SYSTEM, now=NOW)
        assert len(asked) == 1
        seqs = list(Event.objects.filter(type="a.b").order_by("seq").values_list("seq", flat=True))
        assert [fields(seq) for seq in seqs[3:]] == [fields(one.seq) for one in alone]
        assert [more.pop("seq") for *_, more in sent] == seqs[3:]
        assert [more.pop("seq") for *_, more in told] == seqs[:3]
        assert sent == told
    with in_workspace(neighbour.workspace):
        assert not Event.objects.filter(type="a.b").exists()


def test_no_rows_are_no_query_and_unsent_ones_are_not_sent(tenant: Tenant) -> None:
    with in_workspace(tenant.workspace), patch.object(history, "publish") as sent:
        with statements() as asked:
            record_each("a.b", [], of="memory", actor=SYSTEM, now=NOW)
        assert len(asked) == 0
        record_unsent("a.b", [(UUID(int=1), {})], of="memory", actor=SYSTEM, now=NOW)
        assert Event.objects.filter(type="a.b").count() == 1
        assert not sent.called
