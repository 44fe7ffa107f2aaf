"""The files of `deploy/`: the dashboard asks for what is exported, and every queue is served."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.utils import timezone

from engram.console.metrics import Figures
from tests.homes import ENVIRONMENT, SOURCE

DEPLOY = SOURCE / "deploy"
UNITS = sorted((DEPLOY / "systemd").iterdir())
# A metric with what selects its series, and the labels that a query sums by.
METRIC = re.compile(r"(engram_[a-z_]+)(?:\{([^}]*)\})?")
BY = re.compile(r"\bby \(([^)]*)\)")
SUFFIXES = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"], "gauge": [""]}


def exported() -> dict[str, set[str]]:
    """Return the labels of every time series that `/metrics` exports."""
    return {
        family.name + suffix: {*family._labelnames, *(["le"] if suffix == "_bucket" else [])}
        for family in Figures(timezone.now()).collect()
        for suffix in SUFFIXES[family.type]
    }


def expressions() -> list[str]:
    panels = json.loads((DEPLOY / "grafana" / "engram.json").read_text())["panels"]
    return [target["expr"] for panel in panels for target in panel["targets"]]


def unknown(expression: str, known: dict[str, set[str]]) -> list[str]:
    """Return what a query names and nothing exports."""
    found = METRIC.findall(expression)
    missing = [name for name, _ in found if name not in known]
    if missing or not found:
        return missing or ["no metric"]
    labels = set.intersection(*(known[name] for name, _ in found))
    used = {re.split(r"[=!~]", one)[0].strip() for _, chosen in found for one in chosen.split(",")}
    used |= {label.strip() for group in BY.findall(expression) for label in group.split(",")}
    return sorted(used - labels - {""})


@pytest.mark.django_db
def test_the_dashboard_asks_for_what_is_exported() -> None:
    known = exported()
    assert {one: unknown(one, known) for one in expressions() if unknown(one, known)} == {}
    shown = {name for one in expressions() for name, _ in METRIC.findall(one)}
    assert shown == set(known)  # nothing that is exported is left out, either


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("expression", "missing"),
    [
        ("rate(engram_stage_seconds[5m])", ["engram_stage_seconds"]),
        ("sum by (workspace) (engram_ready)", ["workspace"]),
        ('engram_ready{stage="a"}', ["stage"]),
        ("up", ["no metric"]),
        ('sum by (check) (engram_ready{check=~"a|b"})', []),
    ],
)
def test_a_query_of_something_else_is_found(expression: str, missing: list[str]) -> None:
    assert unknown(expression, exported()) == missing


@pytest.mark.django_db
def test_alarms_of_the_documentation_name_what_is_exported() -> None:
    known = exported()
    text = (SOURCE / "docs" / "operators.md").read_text() + (
        SOURCE / "docs" / "deploy.md"
    ).read_text()
    named = set(re.findall(r"`[^`]*?(engram_[a-z_]+)[^`]*`", text)) - {"engram_find_key"}
    metrics = {name for name in named if name.startswith(("engram_process_", "engram_due_"))}
    assert metrics | {"engram_ready"} <= set(known)


def test_panels_have_titles_and_ids_of_their_own() -> None:
    dashboard = json.loads((DEPLOY / "grafana" / "engram.json").read_text())
    for key in ("id", "title"):
        values = [panel[key] for panel in dashboard["panels"]]
        assert len(set(values)) == len(values)


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return found


def queues_of(commands: Iterable[list[str]]) -> list[str]:
    """Return the queues that workers serve, one for each worker that serves it."""
    workers = [command for command in commands if "worker" in command]
    return sorted(queue for one in workers for queue in one[one.index("--queues") + 1].split(","))


def test_compose_serves_each_queue_once_and_has_one_scheduler() -> None:
    commands = [one["command"] for one in compose()["services"].values() if "command" in one]
    assert queues_of(commands) == sorted(settings.CELERY_TASK_QUEUES)
    assert sum("beat" in command for command in commands) == 1


def test_every_service_of_compose_is_looked_after() -> None:
    services = compose()["services"]
    looked_after = {name for name, one in services.items() if "test" in one.get("healthcheck", {})}
    # The image itself looks after web; the preparation ends.
    assert set(services) - looked_after == {"web", "prepare"}
    waiting = {name for name in services if "prepare" in services[name].get("depends_on", {})}
    assert waiting == {"web", "worker", "bulk", "models", "outgoing", "beat"}


def test_the_database_is_ready_only_when_it_is_made() -> None:
    """The server that the image makes it with listens on its socket, and is ready in between."""
    check = compose()["services"]["postgres"]["healthcheck"]["test"]
    assert check[:3] == ["CMD", "pg_isready", "--host=127.0.0.1"]


def test_units_serve_each_queue_once_and_have_one_scheduler() -> None:
    starts = [re.search(r"^ExecStart=(.*)$", unit.read_text(), re.M) for unit in UNITS]
    commands = [found[1].split() for found in starts if found]
    assert queues_of(commands) == sorted(settings.CELERY_TASK_QUEUES)
    assert sum("beat" in command for command in commands) == 1
    wanted = re.search(r"^Wants=(.*)$", (DEPLOY / "systemd" / "engram.target").read_text(), re.M)
    assert wanted is not None
    assert set(wanted[1].split()) == {
        f"engram-{name}.service" for name in ("web", "worker", "bulk", "models", "outgoing", "beat")
    }


def test_variables_are_those_that_the_product_reads() -> None:
    """A name that nothing reads would be a setting without an effect."""
    source = "".join(path.read_text() for path in (SOURCE / "engram").rglob("*.py"))
    text = "".join(
        path.read_text() for path in [DEPLOY / "compose.yaml", DEPLOY / "Dockerfile", *UNITS]
    )
    named = set(re.findall(r"\b(?:ENGRAM|OPENAI|DATABASE|BROKER)_[A-Z_]+\b", text))
    own = {"ENGRAM_DATABASE_PASSWORD"}  # of the compose file itself, within DATABASE_URL
    assert {name for name in named - own if f'"{name}"' not in source} == set()
    assert "ENGRAM_SECRET_KEY" in named


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd-analyze")
def test_units_are_valid(tmp_path: Path) -> None:
    for unit in UNITS:  # the programs of this environment stand for those of /opt/engram
        text = unit.read_text().replace("/opt/engram/.venv/bin", str(Path(sys.executable).parent))
        (tmp_path / unit.name).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", *map(str, sorted(tmp_path.iterdir()))],
        capture_output=True,
        text=True,
        check=False,
    )
    ours = [line for line in done.stderr.splitlines() if "engram" in line]
    assert (ours, done.returncode) == ([], 0), done.stderr


def test_the_files_of_the_image_suffice(tmp_path: Path) -> None:
    """What the Dockerfile copies is all that the product needs; `.dockerignore` lets it through."""
    copied = re.findall(r"^COPY (?!--)(.+) \S+$", (DEPLOY / "Dockerfile").read_text(), re.M)
    let_through = (SOURCE / ".dockerignore").read_text().splitlines()
    for sources in copied:
        for name in sources.split():
            assert f"!{name}" in let_through
            if name == "requirements.txt":  # of the step before
                continue
            place = tmp_path / name
            if (SOURCE / name).is_dir():
                shutil.copytree(SOURCE / name, place, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(SOURCE / name, place)
    environment = {
        **ENVIRONMENT,
        "ENGRAM_HOME": str(tmp_path / "home"),
        "ENGRAM_ENV": "production",
        "ENGRAM_SECRET_KEY": "k" * 60,
        "ENGRAM_ALLOWED_HOSTS": "engram.example.com",
        "DATABASE_URL": "postgres://engram@127.0.0.1:1/engram",
        "BROKER_URL": "redis://127.0.0.1:1/0",
        "DJANGO_SETTINGS_MODULE": "engram.settings",
    }
    code = "import engram.asgi, engram.celery as c; c.app.loader.import_default_modules()"
    code += "; import engram.console.transfer.manifest as m; print(m.product_version())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"[0-9.]+", done.stdout.splitlines()[-1])
