"""The suite reads rows without an order in an order that nobody may rely on."""

from __future__ import annotations

from engram.kernel.models import Workspace

NAMES = [f"harbour-{n:02}" for n in range(40)]


def test_rows_without_an_order_are_shuffled_and_others_are_not(db: None) -> None:
    Workspace.objects.bulk_create(Workspace(slug=name, name=name) for name in NAMES)
    rows = Workspace.objects.filter(slug__in=NAMES).order_by()
    read = [list(rows.values_list("slug", flat=True)), [row.slug for row in rows.iterator()]]
    assert all(slugs != NAMES and sorted(slugs) == NAMES for slugs in read)
    ordered = rows.order_by("slug")
    assert [row.slug for row in ordered] == [row.slug for row in ordered.iterator()] == NAMES
    first = rows.order_by("slug")[:5]
    assert [row.slug for row in first] == NAMES[:5]
    assert list(first) == list(first)
