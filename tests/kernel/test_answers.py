"""Serializers of answers have the fields of the dataclass that they show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

import pytest
from rest_framework import serializers

from engram.kernel.answers import field_for, fields_of


@dataclass(frozen=True, slots=True)
class Bird:
    name: str
    is_home: bool
    ring: UUID | None
    weights: Sequence[float] = ()
    seen: dict[str, int] = field(default_factory=dict)
    last_at: datetime | None = None
    secret: str = "nest"


@fields_of(Bird, omit=("secret",))
class BirdSerializer(serializers.Serializer[Any]):
    """A bird."""

    where = serializers.SerializerMethodField()
    is_home = serializers.BooleanField(help_text="Whether it is in its nest.")

    def get_where(self, bird: Bird) -> str:
        """Return its place."""
        return bird.secret.upper()


def test_fields_follow_the_dataclass_and_what_is_declared_wins() -> None:
    shape = BirdSerializer()
    names = ["name", "is_home", "ring", "weights", "seen", "last_at", "where"]
    assert list(shape.fields) == names
    assert shape.fields["is_home"].help_text == "Whether it is in its nest."
    assert [name for name in names if shape.fields[name].allow_null] == ["ring", "last_at"]
    assert all(shape.fields[name].required for name in names[:-1])


def test_answers_are_written_from_the_dataclass() -> None:
    bird = Bird("wren", True, UUID(int=1), (8.5,), {"oak": 2}, datetime(2026, 5, 4, tzinfo=UTC))
    assert BirdSerializer(bird).data == {
        "name": "wren", "is_home": True, "ring": str(UUID(int=1)), "weights": [8.5],
        "seen": {"oak": 2}, "last_at": "2026-05-04T00:00:00Z", "where": "NEST",
    }  # fmt: skip


def test_a_type_without_a_field_of_its_own_is_refused() -> None:
    assert isinstance(field_for(date), serializers.DateField)
    for hint in (Bird, object, dict[int, str], tuple[int, str]):
        with pytest.raises(TypeError, match="declare one"):
            field_for(hint)
