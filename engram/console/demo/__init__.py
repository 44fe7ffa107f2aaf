"""The demo workspace: nine months of a software team, as the services recorded them.

`manage.py record_demo` plays the story through the services and writes down what it left; making
the demo loads that recording with all times shifted, so that the story ends now. What has secrets
is made anew: its users, its keys, a webhook that sends nothing, an invitation.
"""

from __future__ import annotations

import json
import os
import secrets
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone

from engram.console.demo.loading import load
from engram.console.demo.outside import add_outside, remove_outside
from engram.kernel import keys
from engram.kernel.actors import SYSTEM
from engram.kernel.models import ApiKey, Event, Membership, Role, Workspace
from engram.kernel.tenancy import in_workspace

SLUG = "demo"
USERNAME = "demo"
COLLEAGUES = ("aylin", "ines", "mira", "tomas")  # reviewers of the story; they cannot sign in
MARK = "(demo)"  # the last name of their accounts


def demo_file() -> Path:
    """Return the path of the file that holds the demo's user and keys."""
    return Path(settings.ENGRAM_HOME) / "demo.json"


def ensure_demo(now: datetime | None = None) -> Path:
    """Create the demo workspace with its story once; make new credentials when their file is gone.

    What people have changed in it since stays.
    """
    if settings.IS_PRODUCTION:
        raise ImproperlyConfigured("a production has no demo: ENGRAM_ENV=production")
    moment = now or timezone.now()
    # Its sessions show what a learned ranker does: there it may gain influence.
    # The story is of half a year: by the usual thirty days its past recalls would be deleted.
    kept = {"predictor_mode": "on", "retention_query_days": 365}
    defaults = {"name": "Harbour team", "settings": kept}
    workspace, _ = Workspace.objects.get_or_create(slug=SLUG, defaults=defaults)
    with in_workspace(workspace):
        is_new = not Event.objects.exists()
    if is_new:  # before the story: whoever is killed meanwhile finds both undone
        _add_colleagues(workspace)
    with in_workspace(workspace):  # together: whoever is killed meanwhile finds both undone
        if load(workspace, moment, by=USERNAME):
            add_outside(workspace, by=USERNAME, now=moment)
    path = demo_file()
    if not _is_valid(path):
        _write_privately(path, _credentials(workspace, moment))
    else:
        _write_privately(path, json.loads(path.read_text()) | {"url": _url()})
    return path


def ways_in() -> list[str]:
    """Return the demo's credentials that still exist: its user, its keys, the file of both."""
    found = ["demo.json"] if demo_file().exists() else []
    if _user() is not None:
        found.append(f"the user {USERNAME}")
    if count := len(_keys()):
        found.append(f"{count} keys")
    return found


def shut_out(now: datetime) -> list[str]:
    """Remove the demo's users, webhook and invitation, revoke its keys and delete their file.

    Returns what there was. What its workspace holds besides stays, and nobody but a superuser can
    enter it.
    """
    found = ways_in()
    for key in _keys():
        keys.revoke(key, actor=SYSTEM, now=now)
    if (user := _user()) is not None:
        user.delete()
    if gone := _remove_colleagues():
        found.append(f"the reviewers {', '.join(gone)}")
    if (workspace := Workspace.objects.filter(slug=SLUG).first()) is not None:
        found += remove_outside(workspace, now=now)
    demo_file().unlink(missing_ok=True)
    return found


def _user() -> User | None:
    """Return the demo's user: the one of its name who belongs to its workspace."""
    of_demo = Membership.objects.filter(user__username=USERNAME, workspace__slug=SLUG)
    membership = of_demo.select_related("user").first()
    return membership.user if membership else None


def _add_colleagues(workspace: Workspace) -> None:
    """Make members of the story's reviewers, to whom items can be assigned.

    A user who has such a name already is somebody else, and stays outside.
    """
    for name in COLLEAGUES:
        user = User.objects.filter(username=name).first()
        if user is None:
            user = User.objects.create_user(name, last_name=MARK, is_staff=True)  # no password
        if user.last_name == MARK:
            reviewer = {"role": Role.REVIEWER}
            Membership.objects.get_or_create(workspace=workspace, user=user, defaults=reviewer)


def _remove_colleagues() -> list[str]:
    """End the memberships of the story's reviewers; delete accounts that nobody else uses."""
    made = User.objects.filter(username__in=COLLEAGUES, last_name=MARK).order_by("username")
    gone = [user.username for user in made]
    Membership.objects.filter(user__in=made, workspace__slug=SLUG).delete()
    for user in made.filter(memberships=None):
        if not user.has_usable_password():
            user.delete()
    return gone


def _keys() -> list[ApiKey]:
    """Return the keys that were made with the demo and still open something."""
    workspace = Workspace.objects.filter(slug=SLUG).first()
    if workspace is None:
        return []
    names = [f"demo {role}" for role in Role.values]
    with in_workspace(workspace):
        live = ApiKey.objects.filter(name__in=names, revoked_at=None)
        return list(live)


def _is_valid(path: Path) -> bool:
    """Return whether the file's keys still open something."""
    try:
        stored = json.loads(path.read_text())
        return keys.find(stored["api_key"]) is not None
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _url() -> str:
    return f"http://127.0.0.1:{settings.ENGRAM_PORT}"


def _credentials(workspace: Workspace, now: datetime) -> dict[str, Any]:
    """Create the demo user anew and a key for each role that scripts use."""
    password = secrets.token_urlsafe(12)
    user, _ = get_user_model().objects.get_or_create(
        username=USERNAME, defaults={"is_staff": True, "is_superuser": True}
    )
    user.set_password(password)
    user.save()
    Membership.objects.get_or_create(workspace=workspace, user=user, defaults={"role": Role.ADMIN})
    tokens = {
        role: keys.issue(
            workspace,
            name=f"demo {role}",
            role=role,
            actor=SYSTEM,
            now=now,
            is_exempt_from_throttle=True,
        )[1]
        for role in (Role.ADMIN, Role.AGENT, Role.REVIEWER)
    }
    return {
        "url": _url(),
        "username": USERNAME,
        "password": password,
        "api_key": tokens[Role.ADMIN],
        "agent_key": tokens[Role.AGENT],
        "reviewer_key": tokens[Role.REVIEWER],
        "workspace": SLUG,
    }


def _write_privately(path: Path, content: dict[str, Any]) -> None:
    """Write a file that only its owner may read, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".json.new")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(content, file, indent=2)
        file.write("\n")
    draft.replace(path)
