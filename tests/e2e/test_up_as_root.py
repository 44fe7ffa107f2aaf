"""`manage.py up` started by root: what answers to others runs without root's rights."""

import http.client
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from engram.embedded.privileges import can_access
from tests.e2e.test_up import BEAT, POSTGRES, WEB, Up
from tests.homes import (
    ENVIRONMENT,
    PATIENCE_SECONDS,
    SOURCE,
    eventually,
    pids,
    processes_of,
    throw_away,
)
from tests.kernel.test_embedded import Holder
from tests.prepared_home import prepare

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to give up")

WORKERS = r"celery .* worker "  # all of them
STRANGER = 61000  # stands for any user without an account
NOT_NEEDED = ("test", "site-packages", "idlelib", "tkinter", "lib2to3", "ensurepip", "config-*")
# A container whose checkout cannot be written to, also by root.
READ_ONLY = (
    'mount --bind "$PWD" "$PWD" && mount -o remount,ro,bind "$PWD" && cd "$PWD" && exec "$0" "$@"'
)


@dataclass(frozen=True)
class Python:
    """An interpreter that every user may run, and the variables that it needs."""

    program: str
    variables: dict[str, str]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Return a folder that every user may enter, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp(prefix="engram-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def python(folder: Path) -> Python:
    """Return our interpreter, or a copy of it outside of root's home."""
    packages = Path(sysconfig.get_path("purelib"))
    for needed in (SOURCE / "manage.py", packages / "django" / "__init__.py"):
        if not can_access(needed, os.R_OK, STRANGER):
            pytest.skip(f"other users cannot read {needed}")
    if can_access(Path(sys.executable), os.X_OK, STRANGER):
        return Python(sys.executable, {})
    copy, base = folder / "python", Path(sys.base_prefix)
    ignored = shutil.ignore_patterns(*NOT_NEEDED)
    library = f"python{sys.version_info.major}.{sys.version_info.minor}"
    shutil.copytree(base / "lib" / library, copy / "lib" / library, ignore=ignored)
    for shared in (base / "lib").glob("libpython*.so*"):
        shutil.copy2(shared, copy / "lib" / shared.name)
    program = copy / "bin" / library
    program.parent.mkdir()
    shutil.copy2(Path(sys.executable).resolve(), program)
    variables = {"PYTHONPATH": str(packages), "LD_LIBRARY_PATH": str(copy / "lib")}
    return Python(str(program), variables)


def start(home: Path, python: Python, *wrapper: str, port: int = 0, **environment: str) -> Up:
    variables = {**python.variables, **environment}
    up = Up(home, command=[*wrapper, python.program], port=port, **variables)
    return up.wait_until_ready()


def manage(home: Path, python: Python, *arguments: str) -> str:
    done = subprocess.run(
        [python.program, "manage.py", *arguments],
        cwd=SOURCE,
        env={**ENVIRONMENT, **python.variables, "ENGRAM_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.stdout, done.stderr
    return done.stdout


def request(up: Up, method: str, path: str, key: str = "", body: object = None) -> tuple[int, str]:
    connection = http.client.HTTPConnection(
        up.url.removeprefix("http://"), timeout=PATIENCE_SECONDS
    )
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    connection.request(method, path, json.dumps(body) if body else None, headers if key else {})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def rights_of(pid: int) -> dict[str, list[str]]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    found = {name: rest.split() for name, _, rest in (line.partition(":") for line in lines)}
    return {name: found[name] for name in ("Uid", "Gid", "Groups", "CapPrm", "CapEff")}


def rights_without_root(uid: int) -> dict[str, list[str]]:
    ids, none = [str(uid)] * 4, ["0" * 16]
    return {"Uid": ids, "Gid": ids, "Groups": [], "CapPrm": none, "CapEff": none}


def application_processes(home: Path) -> list[int]:
    found = [pid for pattern in (WEB, WORKERS, BEAT) for pid in pids(home, pattern)]
    assert len(found) >= 3
    return found


def application_uid(home: Path) -> int:
    return (home / "application").stat().st_uid


def free_privileged_port() -> int:
    # Test processes start at different ports: one that is free now may be taken by the next.
    for port in range(1023 - os.getpid() % 200, 600, -1):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port
    pytest.skip("every port below 1024 is taken")


@pytest.fixture(scope="module")
def up(folder: Path, python: Python) -> Iterator[Up]:
    """Run everything in a home that an earlier release made, where root owned all of it."""
    with throw_away(folder / "home") as home:
        home.mkdir(mode=0o700)
        prepare(home)
        for name in ("secret_key", "celerybeat-schedule"):
            (home / name).touch(mode=0o600)
        (home / "secret_key").write_text("made by an earlier release")
        up = start(home, python, port=free_privileged_port())
        yield up
        if up.process.poll() is None:
            up.end_with(signal.SIGKILL)


def test_web_worker_and_beat_have_neither_root_nor_groups(up: Up) -> None:
    uid = application_uid(up.home)
    assert uid not in {0, STRANGER}
    # Web, beat, one worker of threads, and two workers with a child each.
    assert eventually(lambda: len(application_processes(up.home)) == 7)
    for pid in application_processes(up.home):
        assert rights_of(pid) == rights_without_root(uid)
    assert up.printed("run as") == [up.printed(f"web, worker and beat run as user id {uid}$")[0]]
    assert up.printed("Warning") == []
    assert int(up.url.rpartition(":")[2]) < 1024


def test_application_reaches_neither_data_nor_logs_nor_the_keeper(up: Up) -> None:
    uid, record = application_uid(up.home), json.loads((up.home / "services.json").read_text())
    data, run = Path(record["state"], "postgres"), Path(record["run"])
    servers = {rights_of(pid)["Uid"][0] for pid in pids(up.home, POSTGRES)}
    assert servers == {str(data.stat().st_uid)} != {str(uid)}
    for closed in (data, data / "PG_VERSION", up.home / "logs", up.home / "logs" / "worker.log"):
        assert closed.exists()
        assert not can_access(closed, os.R_OK, uid)
    for kept in (up.home, run, run / "keeper.sock", up.home / "services.json"):
        assert not can_access(kept, os.W_OK, uid)
    assert can_access(run / "redis.sock", os.W_OK, uid)
    assert not can_access(run / "redis.sock", os.W_OK, STRANGER)
    assert not can_access(up.home / "secret_key", os.R_OK, STRANGER)


def test_everything_works_without_root(up: Up, python: Python) -> None:
    assert request(up, "GET", "/static/admin/css/base.css")[0] == 200
    assert (up.home / "secret_key").read_text() == "made by an earlier release"
    manage(up.home, python, "create_workspace", "acme", "--name", "Acme")
    key = manage(up.home, python, "create_key", "--workspace", "acme", "--role", "admin").strip()
    said = {"content": "The crane of dock 4 lifts 12 tons.", "scope": "docks"}
    assert request(up, "POST", "/api/v1/memories", key, said)[0] == 201
    status, found = request(up, "POST", "/api/v1/memories/recall", key, {"query": "crane", "k": 1})
    assert (status, "12 tons" in found) == (200, True)
    assert request(up, "GET", "/api/v1/diagnostics", key)[0] == 200  # reads services.json
    assert any((up.home / "application").glob("celerybeat-schedule*"))
    found = {finding["name"]: finding for finding in json.loads(manage_doctor(up, python))}
    assert found["user"] == {
        "name": "user",
        "level": "ok",
        "detail": "started by root, web, worker and beat run as user id "
        f"{application_uid(up.home)}",
        "remedy": "",
    }


def manage_doctor(up: Up, python: Python) -> str:
    return manage(up.home, python, "doctor", "--json")


def test_what_root_makes_later_is_handed_over_at_the_next_start(up: Up) -> None:
    uid = application_uid(up.home)
    (up.home / "secret_key").unlink()
    (up.home / "secret_key").touch(mode=0o600)
    (up.home / "secret_key").write_text("made by root while everything ran")
    for pid in pids(up.home, BEAT):  # it would read its schedule before it is killed below
        os.kill(pid, signal.SIGSTOP)
    for schedule in (up.home / "application").iterdir():  # as of a scheduler that root ran by hand
        os.chown(schedule, 0, 0)
        schedule.chmod(0o600)
    (up.home / "static").chmod(0o700)
    for pattern in (WEB, BEAT):
        before = pids(up.home, pattern)
        os.kill(min(before), signal.SIGKILL)
        assert eventually(lambda p=pattern, b=before: pids(up.home, p) - b)
    assert eventually(up.answers), up.lines[-20:]
    assert request(up, "GET", "/static/admin/css/base.css")[0] == 200
    for pid in application_processes(up.home):
        assert rights_of(pid) == rights_without_root(uid)
    assert up.printed("PermissionError|Permission denied") == []
    for log in ("web", "worker", "beat"):
        path = up.home / "logs" / f"{log}.log"
        assert eventually(path.exists)  # a worker that has not begun has none
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_killed_supervisor_leaves_nobody_and_the_next_start_continues(
    up: Up, python: Python
) -> None:
    uid = application_uid(up.home)
    up.end_with(signal.SIGKILL)
    assert eventually(lambda: processes_of(up.home) == {}), processes_of(up.home)
    again = start(up.home, python)
    assert {rights_of(pid)["Uid"][0] for pid in application_processes(up.home)} == {str(uid)}
    assert again.end_with(signal.SIGTERM) == 0
    assert eventually(lambda: processes_of(up.home) == {}), processes_of(up.home)
    assert again.printed("Traceback") == []


def test_container_with_servers_of_its_own_and_a_read_only_checkout(
    folder: Path, python: Python
) -> None:
    wrapper = ("unshare", "--mount", "sh", "-c", READ_ONLY)
    is_allowed = subprocess.run([*wrapper, "true"], cwd=SOURCE, capture_output=True, check=False)
    if is_allowed.returncode:
        pytest.skip("no file system may be mounted here")
    with throw_away(folder / "servers") as servers, throw_away(folder / "container") as home:
        holder = Holder(prepare(servers))
        run = Path(json.loads((servers / "services.json").read_text())["run"])
        for path, mode in (
            (run, 0o711),
            (run / ".s.PGSQL.5432", 0o777),
            (run / "redis.sock", 0o777),
        ):
            path.chmod(mode)
        named = {"DATABASE_URL": holder.database_url, "BROKER_URL": holder.broker_url}
        up = start(home, python, *wrapper, **named)
        uid = application_uid(home)
        for pid in application_processes(home):
            assert rights_of(pid) == rights_without_root(uid)
        assert up.answers()
        assert up.end_with(signal.SIGTERM) == 0
        holder.leave()


def test_root_stays_where_its_user_cannot_go_and_says_so(tmp_path: Path, python: Python) -> None:
    tmp_path.chmod(0o700)
    with throw_away(tmp_path / "home") as home:
        up = start(prepare(home), python)
        assert {rights_of(pid)["Uid"][0] for pid in application_processes(home)} == {"0"}
        assert len(up.printed("WARNING: web, worker and beat run as root: user id ")) == 1
        assert up.printed("ENGRAM_HOME where every user may read them, such as /opt or /srv")
        found = {finding["name"]: finding for finding in json.loads(manage_doctor(up, python))}
        assert (found["user"]["level"], "run as root" in found["user"]["detail"]) == ("warn", True)
        assert found["user"]["remedy"].startswith("put the checkout, its Python and ENGRAM_HOME")
        assert up.end_with(signal.SIGTERM) == 0
