"""Databases of earlier versions: one migration a package replaces those that they were made by."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from engram.console.health import readiness

OURS = {"kernel", "memories", "conflicts", "predictor", "console"}


def squashed() -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Return what each squashed migration replaces."""
    steps = MigrationLoader(None).disk_migrations
    return {name: step.replaces for name, step in steps.items() if step.replaces}


def state_of_migrations() -> str:
    return next(check["detail"] for check in readiness() if check["name"] == "migrations")


def test_every_package_has_one() -> None:
    assert {app for app, _ in squashed()} == OURS


@pytest.mark.django_db
def test_a_database_with_all_replaced_steps_needs_none() -> None:
    recorded = MigrationRecorder.Migration.objects
    for app, name in squashed():
        assert recorded.filter(app=app, name=name).delete()[0] == 1
    assert state_of_migrations() == ""
    call_command("migrate", verbosity=0, interactive=False)
    applied = set(recorded.values_list("app", "name"))
    assert applied >= set(squashed())


@pytest.mark.django_db
@pytest.mark.parametrize("package", sorted(OURS))
def test_an_older_database_is_left_alone_and_the_way_out_is_named(package: str) -> None:
    recorded = MigrationRecorder.Migration.objects
    (squash,) = [name for name in squashed() if name[0] == package]
    last = squashed()[squash][-1]
    recorded.filter(app=package, name__in=[squash[1], last[1]]).delete()
    before = set(recorded.values_list("app", "name"))
    with pytest.raises(CommandError, match="Nothing was changed") as refused:
        call_command("migrate", verbosity=0, interactive=False)
    assert ".".join(last) in str(refused.value)
    assert "git checkout" in str(refused.value)
    assert state_of_migrations() == str(refused.value)
    assert set(recorded.values_list("app", "name")) == before
