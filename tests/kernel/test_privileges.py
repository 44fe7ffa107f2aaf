"""Which users root gives to a home's processes, and what it hands over to them."""

import os
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engram.embedded import privileges
from engram.embedded.application import hand_over
from engram.embedded.places import find_application_user, make_home
from engram.embedded.privileges import (
    FREE_IDS,
    ApplicationUser,
    choose_application_user,
    choose_service_user,
)
from engram.supervisor.account import Account, choose_account

SEED = 7
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


def owner_and_mode(path: Path) -> tuple[int, int, int]:
    found = path.lstat()
    return found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)


@as_root
def test_servers_and_application_never_share_an_id(tmp_path: Path) -> None:
    first = choose_application_user(SEED, tmp_path, None)
    servers = choose_service_user(SEED, None, first)
    assert first is not None
    assert servers is not None
    assert first == ApplicationUser(first.uid, first.uid)
    assert {first.uid, servers.uid} <= set(FREE_IDS)
    assert first.uid != servers.uid
    data = tmp_path / "postgres"
    data.mkdir()
    os.chown(data, first.uid, first.uid)  # an earlier release gave the servers just this id
    second = choose_application_user(SEED, tmp_path, data)
    assert second is not None
    assert second.uid not in {0, first.uid}


@as_root
def test_user_of_a_home_stays_the_same(tmp_path: Path) -> None:
    make_home(tmp_path / "home")
    first = find_application_user(tmp_path / "home")
    assert first is not None
    hand_over(tmp_path / "home", first)
    assert choose_application_user(SEED + 1, tmp_path / "home", None) == first


@as_root
def test_home_of_an_ordinary_user_is_run_by_that_user(tmp_path: Path) -> None:
    os.chown(tmp_path, 1234, 100)
    found = choose_application_user(SEED, tmp_path, None)
    assert found is not None
    assert found.uid == 1234
    assert found.gid in FREE_IDS  # 100 may have other members


@as_root
def test_without_a_free_id_root_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(privileges, "_is_mapped", lambda number: number == FREE_IDS[3])
    assert choose_application_user(SEED, tmp_path, None) is None
    servers = choose_service_user(SEED, None, None)
    assert servers is not None
    assert servers.uid == FREE_IDS[3]
    account = choose_account(tmp_path, os.environ, frozenset())
    assert (account.user, account.why_root) == (None, "no user id is free")


@as_root
def test_handing_over_is_repeatable_and_follows_no_links(tmp_path: Path) -> None:
    user, stranger, linked = ApplicationUser(60900, 60900), tmp_path / "a", tmp_path / "b"
    home = tmp_path / "home"
    make_home(home)
    for path in (stranger, linked, home / "secret_key", home / "application" / "schedule"):
        path.touch(mode=0o640)
    (home / "demo.json").touch(mode=0o600)
    (home / "application" / "symbolic").symlink_to(stranger)
    (home / "application" / "hard").hardlink_to(linked)
    (home / "static" / "css").mkdir(parents=True, mode=0o700)
    for _ in range(2):
        hand_over(home, user)
        assert owner_and_mode(home) == (0, 0, 0o711)
        assert owner_and_mode(home / "application") == (60900, 60900, 0o700)
        assert owner_and_mode(home / "application" / "schedule") == (60900, 60900, 0o600)
        assert owner_and_mode(home / "secret_key") == (60900, 60900, 0o600)
        assert owner_and_mode(home / "demo.json") == (0, 0, 0o600)
        assert owner_and_mode(home / "static" / "css") == (0, 0, 0o755)
        assert owner_and_mode(stranger) == owner_and_mode(linked) == (0, 0, 0o640)


@as_root
def test_home_that_was_closed_to_all_lets_the_application_pass(tmp_path: Path) -> None:
    user = ApplicationUser(60900, 60900)
    for mode, becomes in ((0o700, (0, 60900, 0o710)), (0o750, (0, 0, 0o750))):
        home = tmp_path / oct(mode)
        home.mkdir()
        home.chmod(mode)
        hand_over(home, user)
        assert owner_and_mode(home) == becomes


def test_new_home_can_be_passed_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        make_home(tmp_path / "home")
    finally:
        os.umask(before)
    mode = stat.S_IMODE((tmp_path / "home").stat().st_mode)
    assert mode == (0o711 if os.geteuid() == 0 else 0o700)


def test_ordinary_user_runs_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    account = choose_account(tmp_path, os.environ, frozenset({"postgres"}))
    assert account == Account(tmp_path)
    assert account.options({"HOME": "/home/ana"}) == {"env": {"HOME": "/home/ana"}}


@as_root
def test_application_gets_a_home_folder_of_its_own(tmp_path: Path) -> None:
    make_home(tmp_path)
    account = Account(tmp_path, ApplicationUser(60900, 60900))
    options = account.options(
        {"HOME": "/root", "USER": "root", "XDG_CACHE_HOME": "/root", "A": "1"}
    )
    assert options == {
        "env": {"HOME": str(tmp_path / "application"), "A": "1"},
        "user": 60900,
        "group": 60900,
        "extra_groups": [],
    }


@as_root
def test_program_that_the_user_may_not_run_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "python"
    program.symlink_to(sys.executable)
    tmp_path.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))
    account = choose_account(tmp_path, os.environ, frozenset())
    assert account.user is None
    assert account.why_root.endswith(f"cannot run them (Permission denied: {program})")


def test_processes_that_start_at_once_create_one_home(tmp_path: Path) -> None:
    homes = [tmp_path / f"{number}" / "home" for number in range(100) for _ in range(8)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(make_home, homes))  # raises what one of them raised
    modes = {stat.S_IMODE(home.stat().st_mode) for home in homes}
    assert modes == {0o711 if os.geteuid() == 0 else 0o700}
