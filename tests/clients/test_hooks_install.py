"""The installer adds the hooks to the agent's settings once, and keeps what is there."""

from __future__ import annotations

import json
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.clients.hooks import FOLDER, KEY, Home, stand_in

EVENTS = ["SessionStart", "UserPromptSubmit", "SessionEnd"]
OWN = {"hooks": [{"type": "command", "command": "echo mine"}], "matcher": "startup"}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "a home")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def commands(settings: dict[str, Any], event: str) -> list[str]:
    return [one["command"] for group in settings["hooks"][event] for one in group["hooks"]]


def installed(home: Home, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = home.install("--url", "http://127.0.0.1:9", "--no-check", *arguments, ENGRAM_KEY=KEY)
    assert done.returncode == 0, done.stderr
    return done


def test_what_is_in_the_settings_stays_and_the_hooks_are_there_once(home: Home) -> None:
    file = home.path / ".claude" / "settings.json"
    file.parent.mkdir()
    before = {
        "model": "größer",
        "hooks": {"SessionStart": [OWN], "Stop": [OWN], "PreToolUse": []},
        "permissions": {"allow": ["Bash(ls)"]},
    }
    file.write_text(json.dumps(before, ensure_ascii=False), encoding="utf-8")
    file.chmod(0o640)
    installed(home)
    once = file.read_text(encoding="utf-8")
    installed(home)
    assert file.read_text(encoding="utf-8") == once
    settings = home.settings()
    assert list(settings) == ["model", "hooks", "permissions"]
    assert settings["hooks"]["Stop"] == [OWN]
    assert settings["hooks"]["SessionStart"][0] == OWN
    assert [len(commands(settings, event)) for event in EVENTS] == [2, 1, 1]
    assert mode(file) == 0o640
    assert home.install("--uninstall").returncode == 0
    assert home.settings() == before
    assert not home.state.joinpath("config.json").exists()
    assert not (file.parent / "hooks" / "engram").exists()


def test_the_key_is_for_its_owner_only_and_nowhere_else(home: Home) -> None:
    done = installed(home)
    assert KEY not in done.stdout + done.stderr
    holding = [
        path
        for path in home.path.rglob("*")
        if path.is_file() and KEY.encode() in path.read_bytes()
    ]
    assert holding == [home.state / "config.json"]
    assert mode(home.state / "config.json") == 0o600
    assert mode(home.state) == 0o700


def test_a_project_s_hooks_work_for_everybody_in_it_and_have_no_key(home: Home) -> None:
    installed(home, "--scope", "project")
    settings = home.settings(of=home.project)
    assert commands(settings, "SessionEnd") == [
        'python3 -I -S "$CLAUDE_PROJECT_DIR"/.claude/hooks/engram/engram_hooks/hook.py'
    ]
    assert (home.project / ".claude/hooks/engram/engram_hooks/hook.py").exists()
    assert str(home.path) not in json.dumps(settings)
    config = json.loads((home.state / "config.json").read_text())
    assert list(config["projects"]) == [str(home.project.resolve())]
    installed(home, "--scope", "local")
    assert commands(home.settings("settings.local.json", of=home.project), "SessionStart")
    assert home.install("--uninstall", "--scope", "project").returncode == 0
    assert home.settings(of=home.project) == {}


def test_settings_that_cannot_be_read_are_left_as_they_are(home: Home) -> None:
    file = home.path / ".claude" / "settings.json"
    file.parent.mkdir()
    for text in ("{ // mine\n}", "[]", '{"hooks": []}', '{"hooks": {"SessionStart": {}}}'):
        file.write_text(text)
        done = home.install("--url", "http://127.0.0.1:9", "--no-check", ENGRAM_KEY=KEY)
        assert done.returncode == 1, text
        assert file.read_text() == text
        assert not home.state.exists()
        assert not (file.parent / "hooks").exists()


def test_settings_that_are_a_link_stay_one(home: Home) -> None:
    kept = home.path / "dotfiles.json"
    kept.write_text("{}")
    (home.path / ".claude").mkdir()
    (home.path / ".claude" / "settings.json").symlink_to(kept)
    installed(home)
    assert (home.path / ".claude" / "settings.json").is_symlink()
    assert "SessionEnd" in kept.read_text()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--url", "ftp://127.0.0.1", "--key", "egr_key"],
        ["--url", "http://", "--key", "egr_key"],
        ["--url", "http://me:mine@127.0.0.1", "--key", "egr_key"],
        ["--url", "http://127.0.0.1:9", "--key", "egr key"],
        ["--url", "http://127.0.0.1:9", "--key-file", "none"],
        ["--url", "http://127.0.0.1:9"],
        [],
    ],
)
def test_what_cannot_work_is_refused(home: Home, arguments: list[str]) -> None:
    done = home.install("--no-check", *arguments)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert not home.state.exists()
    assert not (home.path / ".claude").exists()


def test_the_service_is_asked_before_anything_is_changed(home: Home) -> None:
    with stand_in() as service:
        done = home.install("--url", service.url, "--key", KEY)  # it knows no GET
        assert done.returncode == 1
        assert "501" in done.stderr
        assert not home.state.exists()
    done = home.install("--url", service.url, "--key", KEY)
    assert done.returncode == 0
    assert "does not answer now" in done.stderr
    status = home.install("--status")
    assert f"all projects: {service.url}: {service.url} does not answer now" in status.stdout
    assert KEY not in status.stdout + status.stderr + done.stderr + done.stdout


def test_later_settings_are_added_to_those_before(home: Home) -> None:
    installed(home, "--extract", "--project", "shop")
    installed(home, "--recall-k", "0")
    config = json.loads((home.state / "config.json").read_text())["default"]
    assert (config["extract"], config["project"], config["recall_k"]) == (True, "shop", 0)


def test_transcripts_that_wait_outlive_the_hooks_unless_purged(home: Home) -> None:
    installed(home)
    (home.state / "spool").mkdir()
    (home.state / "spool" / "one.json").write_text("{}")
    done = home.install("--uninstall")
    assert "1 transcripts were not sent" in done.stdout
    assert home.waiting()
    installed(home)
    home.install("--uninstall", "--purge")
    assert not home.state.exists()


def test_the_plugin_has_the_hooks_of_the_installer() -> None:
    plugin = json.loads((FOLDER / "hooks" / "hooks.json").read_text())
    assert list(plugin["hooks"]) == EVENTS
    for event in EVENTS:
        [command] = commands(plugin, event)
        assert command == 'python3 -I -S "${CLAUDE_PLUGIN_ROOT}/engram_hooks/hook.py"'
    manifest = json.loads((FOLDER / ".claude-plugin" / "plugin.json").read_text())
    assert manifest["name"] == "engram"


def test_the_plugin_needs_only_the_address_and_the_key(home: Home) -> None:
    installed(home, "--only-settings")
    assert (home.state / "config.json").exists()
    assert not (home.path / ".claude").exists()
