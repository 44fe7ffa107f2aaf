"""The embedded services, watched from outside: each holder is a process of its own."""

import json
import os
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import django
import psycopg
import pytest
import redis

from engram.embedded import redis_client_url
from engram.embedded.broker import find_program
from engram.embedded.memory import memory_mb, shared_buffers_mb
from tests.homes import PATIENCE_SECONDS, eventually, pids, processes_of, start_python, throw_away

POSTGRES, REDIS, KEEPER = r"bin/postgres -D", r"redis-server", r"-m engram\.embedded"

HOLD = """
import sys
from engram import embedded
services = embedded.ensure(embedded.home_folder())
print(services.database_url, services.broker_url, flush=True)
sys.stdin.read()
"""

MANAGE_VERSION = """
import runpy, sys
sys.argv = ["manage.py", "version"]
runpy.run_path("manage.py", run_name="__main__")
"""


class Holder:
    """A process that holds the services of a home until told to leave, or killed."""

    def __init__(self, home: Path) -> None:
        self.process = start_python(HOLD, home)
        line = self.process.stdout.readline()
        assert line.startswith("postgresql://"), line + self.process.stdout.read()
        self.database_url, self.broker_url = line.split()

    def leave(self) -> None:
        self.process.communicate("", timeout=PATIENCE_SECONDS)
        assert self.process.returncode == 0

    def kill(self) -> None:
        with self.process:
            self.process.kill()

    def answers(self) -> bool:
        try:
            with psycopg.connect(self.database_url, connect_timeout=2) as connection:
                connection.execute("SELECT 1")
            with redis.Redis.from_url(redis_client_url(self.broker_url)) as client:
                return bool(client.ping())
        except (psycopg.OperationalError, redis.RedisError):
            return False


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a home that is set up once; each test leaves it without a process."""
    with throw_away(tmp_path_factory.mktemp("shared") / "home") as home:
        yield home


@pytest.fixture
def fresh_home(tmp_path: Path) -> Iterator[Path]:
    """Return a home that has not been used."""
    with throw_away(tmp_path / "home") as home:
        yield home


@pytest.fixture
def holder(home: Path) -> Iterator[Holder]:
    holder = Holder(home)
    yield holder
    holder.kill()
    assert eventually(lambda: processes_of(home) == {})


def test_role_is_plain_and_finds_pgvector_in_new_databases(holder: Holder) -> None:
    with psycopg.connect(holder.database_url, autocommit=True) as connection:
        role = connection.execute(
            "SELECT rolname, rolsuper, rolbypassrls, rolcreatedb, rolcreaterole"
            " FROM pg_roles WHERE rolname = current_user"
        ).fetchone()
        settings = [
            connection.execute(f"SHOW {name}").fetchone()[0]
            for name in ("data_checksums", "fsync", "jit", "listen_addresses")
        ]
        connection.execute("CREATE DATABASE another")
    with psycopg.connect(holder.database_url.removesuffix("engram") + "another") as connection:
        vector = connection.execute("SELECT '[1,2]'::vector <=> '[1,2]'::vector").fetchone()
    assert role == ("engram", False, False, True, False)
    assert settings == ["on", "on", "off", ""]
    assert vector == (0.0,)


def test_superuser_has_no_way_in(holder: Holder) -> None:
    with pytest.raises(psycopg.OperationalError, match=r"no pg_hba\.conf entry"):
        psycopg.connect(holder.database_url.replace("engram@", "postgres@"))


def test_sockets_are_in_a_private_folder(home: Path, holder: Holder) -> None:
    run = Path(json.loads((home / "services.json").read_text())["run"])
    # Root gives the application a group that may pass; an ordinary user runs all of it.
    assert stat.S_IMODE(run.stat().st_mode) == (0o2710 if os.geteuid() == 0 else 0o700)
    assert sorted(path.name for path in run.iterdir()) == [
        ".s.PGSQL.5432",
        ".s.PGSQL.5432.lock",
        "keeper.sock",
        "redis.sock",
    ]


def test_last_holder_out_stops_everything(home: Path, holder: Holder) -> None:
    second = Holder(home)
    assert (second.database_url, second.broker_url) == (holder.database_url, holder.broker_url)
    holder.leave()
    assert second.answers()
    second.leave()
    assert eventually(lambda: processes_of(home) == {})


def test_two_holders_at_once_share_one_set_of_servers(fresh_home: Path) -> None:
    processes = [start_python(HOLD, fresh_home) for _ in range(3)]
    lines = {process.stdout.readline() for process in processes}
    assert len(lines) == 1
    assert len(pids(fresh_home, KEEPER)) == 1
    for process in processes:
        process.communicate("", timeout=PATIENCE_SECONDS)
    assert eventually(lambda: processes_of(fresh_home) == {})


def test_killed_starter_leaves_services_to_the_other_holder(home: Path, holder: Holder) -> None:
    second = Holder(home)
    holder.kill()
    assert second.answers()
    second.leave()
    assert eventually(lambda: processes_of(home) == {})


def test_killed_last_holder_leaves_no_process(home: Path, holder: Holder) -> None:
    holder.kill()
    assert eventually(lambda: processes_of(home) == {})


def test_killed_keeper_leaves_no_process_and_the_next_one_starts(
    home: Path, holder: Holder
) -> None:
    [keeper] = pids(home, KEEPER)
    os.kill(keeper, signal.SIGKILL)
    second = Holder(home)
    assert second.answers()
    holder.kill()
    second.leave()
    assert eventually(lambda: processes_of(home) == {})


def test_killed_servers_come_back_with_what_was_committed(home: Path, holder: Holder) -> None:
    with psycopg.connect(holder.database_url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS value")
    for pattern in (POSTGRES, REDIS):
        [server] = pids(home, pattern)
        os.kill(server, signal.SIGKILL)
    assert eventually(holder.answers)
    with psycopg.connect(holder.database_url) as connection:
        assert connection.execute("SELECT value FROM kept").fetchall() == [(7,)]


def test_pid_file_of_a_dead_server_does_not_block_the_next(home: Path) -> None:
    first = Holder(home)
    first.kill()
    assert eventually(lambda: processes_of(home) == {})
    data = Path(json.loads((home / "services.json").read_text())["state"]) / "postgres"
    owner = data.stat().st_uid
    options = {"user": owner, "group": owner, "extra_groups": []} if os.geteuid() == 0 else {}
    with subprocess.Popen(["/bin/sleep", "60"], cwd="/", **options) as stranger:
        pid_file = data / "postmaster.pid"
        pid_file.write_text(f"{stranger.pid}\n{data}\n0\n5432\n/nowhere\n\n0 0\nready\n")
        os.chown(pid_file, owner, owner)
        second = Holder(home)
        assert second.answers()
        second.leave()
        stranger.kill()


def test_interrupted_set_up_is_done_again(fresh_home: Path) -> None:
    (fresh_home / "postgres.new" / "base").mkdir(parents=True)
    holder = Holder(fresh_home)
    assert holder.answers()
    holder.leave()


def test_long_home_with_spaces_works(tmp_path: Path) -> None:
    with throw_away(tmp_path / ("a folder with a long name " * 5) / "ho me") as home:
        holder = Holder(home)
        assert holder.answers()
        holder.leave()


def test_open_home_keeps_everything_inside() -> None:
    folder = Path(tempfile.mkdtemp(prefix="engram-test-"))
    folder.chmod(0o711)
    with throw_away(folder) as home:
        holder = Holder(home)
        record = json.loads((home / "services.json").read_text())
        assert record == {"state": str(home), "run": str(home / "run")}
        holder.leave()


def test_home_that_is_no_folder_is_refused_with_a_clear_message(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    process = start_python(HOLD, blocked)
    output, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert output.splitlines()[-1] == (
        f"engram.embedded.privileges.EmbeddedServicesError: {blocked} is not a folder that you may "
        "write to: choose another ENGRAM_HOME."
    )


def test_variables_of_the_caller_win(fresh_home: Path) -> None:
    code = (
        "import os; from engram import embedded; embedded.export_environment();"
        "print(os.environ['DATABASE_URL'], os.environ['BROKER_URL'])"
    )
    process = start_python(code, fresh_home, DATABASE_URL="postgres://elsewhere/db")
    output, _ = process.communicate(timeout=PATIENCE_SECONDS)
    run = json.loads((fresh_home / "services.json").read_text())["run"]
    assert output == f"postgres://elsewhere/db redis+socket://{run}/redis.sock\n"
    assert not Path(
        json.loads((fresh_home / "services.json").read_text())["state"], "postgres"
    ).exists()


def test_commands_without_services_start_none(fresh_home: Path) -> None:
    process = start_python(MANAGE_VERSION, fresh_home)
    output, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert output == f"{django.__version__}\n"
    assert not (fresh_home / "services.json").exists()


def test_a_server_that_acts_by_its_name_is_started_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Debian installs it: one program, which is a server only where it is called one."""
    checker = tmp_path / "redis-check-rdb"
    shutil.copy2(find_program(), checker)
    (tmp_path / "redis-server").symlink_to(checker.name)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    said = subprocess.run(
        [find_program(), "--version"], capture_output=True, text=True, check=False
    )
    assert said.stdout.startswith("Redis server v="), said


@pytest.mark.parametrize(
    ("broker", "client"),
    [
        ("redis+socket:///run/redis.sock", "unix:///run/redis.sock"),
        ("redis://host:6379/1", "redis://host:6379/1"),
        ("rediss://host:6379/1", "rediss://host:6379/1"),
    ],
)
def test_redis_clients_get_the_form_they_know(broker: str, client: str) -> None:
    assert redis_client_url(broker) == client


@pytest.mark.parametrize(
    ("memory", "buffers"), [(512, 128), (1_024, 128), (4_096, 512), (8_192, 1_024), (65_536, 1_024)]
)
def test_database_keeps_pages_in_an_eighth_of_the_memory(memory: int, buffers: int) -> None:
    assert shared_buffers_mb(memory) == buffers


def test_limit_of_a_container_counts_where_it_is_less(tmp_path: Path) -> None:
    limit, unlimited = tmp_path / "limit", tmp_path / "unlimited"
    limit.write_text(f"{300 * 2**20}\n")
    unlimited.write_text("max\n")
    assert memory_mb((unlimited, limit, tmp_path / "missing")) == 300
    assert memory_mb((unlimited,)) == memory_mb(()) > 300


def test_database_runs_with_what_was_reckoned(holder: Holder) -> None:
    with psycopg.connect(holder.database_url) as database:
        kept = database.execute(
            "SELECT setting::bigint / 128 FROM pg_settings WHERE name = %s", ["shared_buffers"]
        ).fetchone()
    assert kept == (shared_buffers_mb(memory_mb()),)
