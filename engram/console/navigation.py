"""The entries of the admin's and the console's sidebars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse

from engram.console.inbox.queue import tallies_for
from engram.kernel.middleware import StaffWorkspace, zone_of
from engram.kernel.models import Role


@dataclass(frozen=True, slots=True)
class NavItem:
    """One entry: its route, line icon, and the admin's symbol of the same meaning."""

    title: str
    route: str
    icon: str
    symbol: str
    needs: Role = Role.READER
    also: str = ""
    waits: str = ""  # the inbox source whose pending items are counted, or `inbox`: all
    is_for_superusers: bool = False


def _count_waiting(request: HttpRequest, place: NavItem) -> int | None:
    """Return the number of pending items of an entry; None if it has no counter."""
    if not place.waits:
        return None
    tallies = tallies_for(request)
    if place.waits == "inbox":
        return sum(tally.count for tally in tallies.values())
    return tallies[place.waits].count if place.waits in tallies else 0


PLACES: tuple[tuple[str, tuple[NavItem, ...]], ...] = (
    (
        "",
        (
            NavItem("Dashboard", "console:dashboard", "dashboard", "dashboard"),
            NavItem("Inbox", "console:inbox", "triage", "inbox", waits="inbox"),
            NavItem("Triage", "console:triage", "conflicts", "rule", waits="conflicts"),
        ),
    ),
    (
        "Knowledge",
        (
            NavItem("Memories", "admin:memories_memory_changelist", "memories", "layers"),
            NavItem(
                "Notes", "console:notes", "notes", "article", also="/admin/memories/note/"
            ),
            NavItem(
                "Prediction errors", "admin:memories_predictionerror_changelist", "notes",
                "difference",
            ),
            NavItem("Questions", "console:questions", "ask", "quiz"),
            NavItem(
                "Conflicts", "console:conflicts", "conflicts", "call_split",
                also="/admin/conflicts/conflict/",
            ),
            NavItem(
                "Reviews", "admin:memories_review_changelist", "talk", "how_to_reg",
                needs=Role.AGENT, waits="reviews",
            ),
            NavItem("Gate", "console:gate", "merge", "merge"),
            NavItem(
                "Detective", "console:detective", "runs", "radar",
                also="/admin/conflicts/detectionrun/",
            ),
            NavItem(
                "Janitor", "admin:memories_janitorrun_changelist", "broom", "cleaning_services"
            ),
            NavItem("History", "admin:kernel_event_changelist", "events", "history"),
        ),
    ),
    (
        "Learning",
        (
            NavItem("Sessions", "admin:memories_session_changelist", "session", "forum"),
            NavItem("Judgements", "admin:predictor_judgement_changelist", "judge", "gavel"),
            NavItem("Comparisons", "admin:predictor_comparison_changelist", "ranker", "balance"),
            NavItem(
                "Trainings", "admin:predictor_training_changelist", "training", "model_training"
            ),
            NavItem(
                "Model versions", "admin:predictor_modelversion_changelist", "model",
                "deployed_code",
            ),
        ),
    ),
    (
        "Workspace",
        (
            NavItem("Keys", "admin:kernel_apikey_changelist", "keys", "key", needs=Role.ADMIN),
            NavItem(
                "Members", "admin:kernel_membership_changelist", "people", "group",
                needs=Role.ADMIN,
            ),
            NavItem(
                "Invitations", "admin:kernel_invitation_changelist", "people", "mail",
                needs=Role.ADMIN,
            ),
            NavItem(
                "Webhooks", "admin:console_webhookendpoint_changelist", "link", "webhook",
                needs=Role.ADMIN,
            ),
            NavItem(
                "Deliveries", "admin:console_webhookdelivery_changelist", "up", "send",
                needs=Role.ADMIN,
            ),
            NavItem("Digest", "console:digest", "clock", "schedule_send"),
            NavItem("Workspaces", "admin:kernel_workspace_changelist", "workspaces", "domain"),
            NavItem(
                "Users", "admin:auth_user_changelist", "people", "person", is_for_superusers=True
            ),
            NavItem(
                "Failed sign-ins", "admin:axes_accessattempt_changelist", "leave", "lock",
                is_for_superusers=True,
            ),
            NavItem("API docs", "console:api-docs", "docs", "description"),
        ),
    ),
)  # fmt: skip


def _is_shown(request: HttpRequest, place: NavItem) -> bool:
    staff: StaffWorkspace | None = getattr(request, "staff_workspace", None)
    if place.is_for_superusers:
        return request.user.is_superuser
    return staff is not None and staff.actor.role.includes(place.needs)


def console_sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the groups of the console's sidebar, with the current entry marked."""
    groups = []
    for title, places in PLACES:
        items = [
            {
                "title": place.title,
                "link": reverse(place.route),
                "icon": place.icon,
                "count": _count_waiting(request, place),
                "waits": place.waits,
                "is_current": _is_current(request, place),
            }
            for place in places
            if _is_shown(request, place)
        ]
        if items:
            groups.append({"title": title, "items": items})
    return groups


def _is_current(request: HttpRequest, place: NavItem) -> bool:
    link = reverse(place.route)
    prefixes = tuple(prefix for prefix in (link, place.also) if prefix not in {"", "/"})
    return request.path == link or request.path.startswith(prefixes)


def admin_sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the same entries in the format of the admin's theme."""
    groups = []
    for title, places in PLACES:
        items: list[dict[str, Any]] = []
        for place in places:
            if not _is_shown(request, place):
                continue
            link = reverse(place.route)
            item = {
                "title": place.title,
                "icon": place.symbol,
                "link": link,
                "active": _is_current(request, place),
            }
            if count := _count_waiting(request, place):
                item |= {"badge": str(count), "badge_variant": "primary"}
            items.append(item)
        if items:
            groups.append({"title": title, "separator": bool(title), "items": items})
    return groups


def environment_badge(request: HttpRequest) -> list[str]:
    """Return the label by the admin's title: the workspace and its zone, or the environment."""
    staff: StaffWorkspace | None = getattr(request, "staff_workspace", None)
    colour = "danger" if settings.IS_PRODUCTION else "info"
    if staff is None:
        return [settings.ENVIRONMENT, colour]
    # Of a zone such as America/Argentina/Buenos_Aires the place: narrow screens have no more room.
    place = str(zone_of(staff.workspace)).rpartition("/")[2].replace("_", " ")
    return [f"{staff.workspace.name} · {place}", colour]


def site_icon(request: HttpRequest) -> str:
    """Return Engram's logo, for the admin's sidebar and the browser tab."""
    return static("console/mark.svg")


def admin_style(request: HttpRequest) -> str:
    """Return the URL of the stylesheet shared by the console and the admin."""
    return static("console/console.css")
