"""Which queue a task has, and which worker serves it."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings

from conflicts.services.detection.narrative import NARRATE_TASK
from engram.celery import app
from engram.supervisor.plan import Plan, names_model
from engram.supervisor.workers import workers


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({}, False),
        ({"OPENAI_API_KEY": ""}, False),
        ({"OPENAI_API_KEY": "sk-1"}, True),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:8080/v1"}, True),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:8080/v1", "ENGRAM_MODEL": ""}, False),
        ({"OPENAI_API_KEY": "sk-1", "ENGRAM_MODEL": "mine"}, True),
        ({"ENGRAM_MODEL": "mine"}, False),
    ],
)
def test_a_model_is_named_by_a_key_or_an_address(environment: dict[str, str], named: bool) -> None:
    assert names_model(environment) is named


def test_what_waits_for_a_model_has_a_queue_of_its_own() -> None:
    def queue(task: str) -> str:
        return str(app.amqp.router.route({}, task)["queue"].name)

    assert queue(NARRATE_TASK) == "models"
    assert queue("conflicts.detect_workspace") == "engram"


@pytest.mark.parametrize("has_model", [False, True])
@pytest.mark.parametrize("processes", [1, 2, 5])
def test_each_queue_is_served_by_one_worker(processes: int, has_model: bool) -> None:
    plan = Plan(Path(), "", 0, 1, processes, has_demo=False, has_model=has_model)
    served = {name: _option(options, "queues").split(",") for name, _, options in workers(plan)}
    assert sorted(queue for queues in served.values() for queue in queues) == sorted(
        app.amqp.queues
    )
    assert ("engram" in served["worker"], "bulk" in served["worker"]) == (True, processes == 1)
    assert ("models" in served["worker"]) is not has_model
    computing = [
        int(_option(options, "concurrency"))
        for name, _, options in workers(plan)
        if "--pool=threads" not in options
    ]
    assert sum(computing) == processes


def test_routes_name_tasks_that_exist() -> None:
    app.loader.import_default_modules()
    assert set(settings.CELERY_TASK_ROUTES) <= set(app.tasks)


def _option(options: list[str], name: str) -> str:
    [value] = [o.partition("=")[2] for o in options if o.startswith(f"--{name}=")]
    return value
