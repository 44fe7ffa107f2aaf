"""Installs, shows or removes Engram's hooks of the Claude Code agent.

    python3 install.py --url http://127.0.0.1:8000 --key egr_…      for all projects of this user
    python3 install.py --scope project --url … --key …              for the project of this folder
    python3 install.py --off                                        nothing of this folder is sent
    python3 install.py --status
    python3 install.py --uninstall [--scope project] [--purge]

The key is also read from ENGRAM_KEY, from `--key-file FILE` (`-` is standard input), or asked for.
"""

from __future__ import annotations

import argparse
import getpass
import json
import os
import shutil
import sys
from urllib.parse import urlsplit

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from engram_hooks import sending, state  # noqa: E402
from engram_hooks.agent_settings import (  # noqa: E402
    EVENTS,
    HOOK_FILE,
    SettingsError,
    read_settings,
    with_hooks,
    without_hooks,
    write_settings,
)
from engram_hooks.service import NotReachedError, RefusedError, Service  # noqa: E402

PACKAGE = "engram_hooks"
SETTINGS = {
    "user": "settings.json",
    "project": "settings.json",
    "local": "settings.local.json",
}


class InstallError(Exception):
    """Nothing was changed, and why."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit code."""
    options = _options(arguments)
    try:
        if options.status:
            show_status()
        elif options.off:
            leave_out(options)
        elif options.uninstall:
            uninstall(options)
        else:
            install(options)
    except (InstallError, SettingsError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", maxsplit=1)[0])
    parser.add_argument("--url", default=os.environ.get("ENGRAM_URL"), help="or ENGRAM_URL")
    parser.add_argument("--key", default=os.environ.get("ENGRAM_KEY"), help="or ENGRAM_KEY")
    parser.add_argument("--key-file", help="a file with the key; - is standard input")
    parser.add_argument(
        "--scope",
        choices=sorted(SETTINGS),
        default="user",
        help="whose settings: of the user (default), of the project and everybody in it, or of the "
        "project for this user alone (local)",
    )
    parser.add_argument("--project-dir", default=".", help="the project's folder (default: here)")
    parser.add_argument("--project", help="label of memories; default: the repository's name")
    parser.add_argument(
        "--extract",
        action=argparse.BooleanOptionalAction,
        help="turn transcripts into memories (default: no)",
    )
    parser.add_argument("--recall-k", type=int, help="memories recalled for a prompt; 0: none (5)")
    parser.add_argument("--no-check", action="store_true", help="do not ask the service")
    parser.add_argument("--only-settings", action="store_true", help="for the plugin: no hooks")
    parser.add_argument("--status", action="store_true", help="show what is installed and waits")
    parser.add_argument("--off", action="store_true", help="send nothing of this project")
    parser.add_argument("--uninstall", action="store_true", help="remove the hooks and the key")
    parser.add_argument("--purge", action="store_true", help="also what was not sent yet")
    return parser.parse_args(arguments)


def install(options: argparse.Namespace) -> None:
    """Copy the hooks, store the address and key, and add the hooks to the agent's settings."""
    if not hasattr(os, "fork"):
        raise InstallError("the hooks need a system with fork: Linux, macOS, or WSL")
    url, key = _address(options), _key(options)
    if not options.no_check and (said := _asked(url, key)):
        print(f"warning: {said}", file=sys.stderr)
    settings_file = _settings_file(options)
    folder = _folder(settings_file)
    # First, so that nothing is changed when the settings are not what they should be.
    settings = with_hooks(read_settings(settings_file), _command(options, folder))
    _store(_root(options), url, key, options)
    print(f"address and key: {os.path.join(state.home(), state.CONFIG)} (for you only)")
    if options.only_settings:
        return
    _copy(folder)
    write_settings(settings_file, settings)
    print(f"hooks:           {settings_file}: {', '.join(EVENTS)}")
    print("They take effect in the agent's next session; `install.py --status` shows their log.")


def leave_out(options: argparse.Namespace) -> None:
    """Store for a project that the hooks do nothing in it, wherever they are installed."""
    root = os.path.realpath(options.project_dir)
    config = state.read(state.CONFIG)
    config.setdefault("projects", {})[root] = {}
    state.write(json.dumps(config, indent=2), state.CONFIG)
    print(f"nothing of {root} is sent; --uninstall --scope local takes that back")


def uninstall(options: argparse.Namespace) -> None:
    """Remove the hooks, their copy, and the address and key of this scope."""
    settings_file = _settings_file(options)
    settings = read_settings(settings_file)
    if os.path.exists(settings_file):
        write_settings(settings_file, without_hooks(settings))
    shutil.rmtree(_folder(settings_file), ignore_errors=True)
    config = state.read(state.CONFIG)
    if _root(options):
        config.get("projects", {}).pop(_root(options), None)
    else:
        config.pop("default", None)
    if config.get("default") or config.get("projects"):
        state.write(json.dumps(config, indent=2), state.CONFIG)
    else:
        state.remove(state.CONFIG)
    waiting = len(state.names(sending.SPOOL))
    if options.purge:
        shutil.rmtree(state.home(), ignore_errors=True)
    elif waiting:
        print(f"{waiting} transcripts were not sent; they stay in {state.home()} (--purge removes)")
    print(f"removed from {settings_file}")


def show_status() -> None:
    """Print what is set up, whether the service answers, what waits, and the end of the log."""
    config = state.read(state.CONFIG)
    places = {"": config.get("default"), **config.get("projects", {})}
    for root, found in places.items():
        if found == {}:
            print(f"{root}: nothing is sent")
        elif isinstance(found, dict):
            try:
                answer = _asked(found["url"], found["key"]) or "answers"
            except InstallError as error:
                answer = str(error)
            print(f"{root or 'all projects'}: {found['url']}: {answer}")
    if not any(places.values()):
        print("not installed")
    print(f"transcripts that wait: {len(state.names(sending.SPOOL))}")
    print(f"transcripts refused:   {len(state.names(sending.REFUSED))}")
    log = os.path.join(state.home(), state.LOG)
    if os.path.exists(log):
        with open(log, encoding="utf-8") as file:
            print(f"{log}:")
            print("".join(file.readlines()[-10:]), end="")


def _address(options: argparse.Namespace) -> str:
    url = (options.url or "").strip().rstrip("/")
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InstallError("--url (or ENGRAM_URL) must begin with http:// or https://")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InstallError("--url must be an address without user, query and fragment")
    if parts.scheme == "http" and parts.hostname not in {"127.0.0.1", "localhost", "::1"}:
        print("warning: the key and all texts travel unencrypted: use https://", file=sys.stderr)
    return url


def _key(options: argparse.Namespace) -> str:
    if options.key_file == "-":
        key = sys.stdin.readline()
    elif options.key_file:
        try:
            with open(options.key_file, encoding="utf-8") as file:
                key = file.read()
        except OSError as error:
            raise InstallError(f"--key-file: {error.strerror}") from None
    elif options.key:
        key = options.key
    elif sys.stdin.isatty():
        key = getpass.getpass("API key (role agent): ")
    else:
        raise InstallError("no key: --key, --key-file or ENGRAM_KEY")
    key = key.strip()
    if not key or not (key.isascii() and key.isprintable()) or " " in key:
        raise InstallError("the key must be visible ASCII characters")
    return key


def _asked(url: str, key: str) -> str:
    """Ask the service for a session; return "" or that it is down; raise when it refuses."""
    service = Service(url, key, 5.0)
    try:
        service.call("GET", "/sessions?limit=1")
    except RefusedError as error:
        if error.status == 401:
            raise InstallError(f"{url} does not know this key") from None
        raise InstallError(f"{url} answers {error.status}: is this Engram's address?") from None
    except NotReachedError as error:
        return f"{url} does not answer now ({error})"
    finally:
        service.close()
    return ""


def _root(options: argparse.Namespace) -> str:
    return "" if options.scope == "user" else os.path.realpath(options.project_dir)


def _settings_file(options: argparse.Namespace) -> str:
    if options.scope == "user":
        folder = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(
            os.path.expanduser("~"), ".claude"
        )
    else:
        folder = os.path.join(os.path.realpath(options.project_dir), ".claude")
    return os.path.join(folder, SETTINGS[options.scope])


def _folder(settings_file: str) -> str:
    return os.path.join(os.path.dirname(settings_file), "hooks", "engram")


def _store(root: str, url: str, key: str, options: argparse.Namespace) -> None:
    config = state.read(state.CONFIG)
    before = config.get("projects", {}).get(root) if root else config.get("default")
    stored = {**(before if isinstance(before, dict) else {}), "url": url, "key": key}
    for name in ("project", "extract", "recall_k"):
        if getattr(options, name) is not None:
            stored[name] = getattr(options, name)
    if root:
        config.setdefault("projects", {})[root] = stored
    else:
        config["default"] = stored
    state.write(json.dumps(config, indent=2), state.CONFIG)


def _copy(folder: str) -> None:
    """Copy the package, so that the hooks do not depend on this checkout."""
    target = os.path.join(folder, PACKAGE)
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(
        os.path.join(HERE, PACKAGE), target, ignore=shutil.ignore_patterns("__pycache__")
    )


def _command(options: argparse.Namespace, folder: str) -> str:
    """Return the command of the hooks; a project's must work for everybody in it."""
    if options.scope == "project":
        return f'python3 -I -S "$CLAUDE_PROJECT_DIR"/.claude/hooks/engram/{HOOK_FILE}'
    # Not of a virtual environment, which may vanish, and not a launcher, which can be slow.
    python = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
    return f'"{python}" -I -S "{os.path.join(folder, *HOOK_FILE.split("/"))}"'


if __name__ == "__main__":
    sys.exit(main())
