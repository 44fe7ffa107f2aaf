"""The places of the sidebar and their tabs, the same in the console and the admin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import get_script_prefix, reverse

from engram.console.inbox.queue import count_waiting, tallies_for
from engram.kernel.models import Role
from engram.kernel.pages import has_role, staff_or_none

HOME = "console:dashboard"
OF_WORKSPACE = "admin:kernel_workspace_change"  # the route takes the current workspace's id


@dataclass(frozen=True, slots=True)
class Tab:
    """One page of a place: its route, and who may open it (`needs` None: superusers only)."""

    title: str
    route: str
    needs: Role | None = Role.READER
    is_for_superusers: bool = False
    also: tuple[str, ...] = ()  # paths of further pages that belong to it
    waits: str = ""  # the inbox source whose pending items are counted, or `inbox`: all
    guide: str = ""  # where a guide tells of it, such as `reviewers#home`; else that of its place


@dataclass(frozen=True, slots=True)
class Place:
    """One entry of the sidebar: its line icon and its pages."""

    title: str
    icon: str
    tabs: tuple[Tab, ...]
    guide: str = ""


PLACES: tuple[Place, ...] = (
    Place("Home", "dashboard", (Tab("Home", HOME),), guide="reviewers#home"),
    Place(
        "Inbox",
        "triage",
        (
            Tab("Inbox", "console:inbox", waits="inbox"),
            Tab("Triage", "console:triage", waits="conflicts", guide="reviewers#the-verdicts"),
            Tab(
                "Conflicts", "console:conflicts", also=("/admin/conflicts/conflict/",),
                guide="reviewers#the-three-kinds",
            ),
            Tab(
                "Reviews", "admin:memories_review_changelist", needs=Role.AGENT, waits="reviews",
                guide="reviewers#reviews",
            ),
        ),
        guide="reviewers#the-inbox",
    ),
    Place(
        "Memories",
        "memories",
        (
            Tab("Memories", "console:memories", also=("/admin/memories/memory/",)),
            Tab("Try a recall", "console:recall", guide="tuning"),
            Tab(
                "Refused statements", "console:refused", needs=Role.REVIEWER,
                guide="reviewers#refused-statements",
            ),
        ),
        guide="reviewers#memories",
    ),
    Place(
        "Questions",
        "ask",
        (
            Tab("Questions", "console:questions"),
            Tab("Missing", "admin:memories_reportitem_changelist"),
        ),
        guide="reviewers#what-is-known",
    ),
    Place(
        "Notes", "notes", (Tab("Notes", "console:notes", also=("/admin/memories/note/",)),),
        guide="reviewers#notes",
    ),
    Place(
        "Detective",
        "runs",
        (
            Tab("Overview", "console:detective", also=("/rules/",), guide="rules"),
            Tab("Runs", "admin:conflicts_detectionrun_changelist"),
            Tab(
                "Gate",
                "console:gate",
                also=("/admin/memories/merge/", "/admin/memories/mergesuggestion/"),
            ),
            Tab("Janitor", "admin:memories_janitorrun_changelist", guide="operators#the-janitor"),
            Tab("What if", "console:replay", needs=Role.REVIEWER),
        ),
        guide="tuning",
    ),
    Place(
        "Learning",
        "training",
        (
            Tab("Overview", "console:learning"),
            Tab("Sessions", "admin:memories_session_changelist"),
            Tab("Judgements", "admin:predictor_judgement_changelist"),
            Tab("Comparisons", "admin:predictor_comparison_changelist"),
            Tab("Trainings", "admin:predictor_training_changelist"),
            Tab("Versions", "admin:predictor_modelversion_changelist"),
            Tab("Calibration", "console:calibration", guide="reviewers#ratings"),
        ),
        guide="predictor",
    ),
    Place(
        "Activity",
        "events",
        (
            Tab("History", "admin:kernel_event_changelist"),
            Tab(
                "Recalls", "admin:memories_pastrecall_changelist", also=("/console/recalls/",),
                guide="operators#past-recalls",
            ),
            Tab("Memories in doubt", "admin:memories_predictionerror_changelist"),
            Tab("Tasks without a note", "admin:memories_predictionerror_tasks"),
        ),
        guide="reviewers#memories-in-doubt",
    ),
    Place(
        "Settings",
        "settings",
        (
            Tab("Settings", "console:settings", needs=Role.ADMIN),
            Tab("Workspace", OF_WORKSPACE),
            Tab("Keys", "admin:kernel_apikey_changelist", needs=Role.ADMIN),
            Tab("Members", "admin:kernel_membership_changelist", needs=Role.ADMIN),
            Tab("Invitations", "admin:kernel_invitation_changelist", needs=Role.ADMIN),
            Tab(
                "Webhooks", "admin:console_webhookendpoint_changelist", needs=Role.ADMIN,
                guide="webhooks",
            ),
            Tab(
                "Deliveries", "admin:console_webhookdelivery_changelist", needs=Role.ADMIN,
                guide="webhooks",
            ),
            Tab("Digest", "console:digest", guide="digests"),
            Tab(
                "Retention", "console:retention", needs=Role.REVIEWER,
                guide="operators#retention-and-deletion",
            ),
            Tab("Deletions", "console:deletions", needs=Role.ADMIN, is_for_superusers=True),
            Tab("API docs", "console:api-docs", also=("/problems/",), guide="agents"),
        ),
        guide="operators#settings",
    ),
)  # fmt: skip
# The tables behind all of this, for operators: what no place above has belongs here.
ADMINISTRATION = Place(
    "Administration",
    "table",
    (
        Tab("All tables", "admin:index", needs=Role.ADMIN, is_for_superusers=True),
        Tab(
            "Workspaces", "admin:kernel_workspace_changelist", needs=Role.ADMIN,
            is_for_superusers=True,
        ),
        Tab("Users", "admin:auth_user_changelist", needs=None, is_for_superusers=True),
        Tab(
            "Failed sign-ins", "admin:axes_accessattempt_changelist", needs=None,
            is_for_superusers=True,
        ),
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ShownTab:
    """A tab that the person may open; `count` is None without a counter."""

    title: str
    link: str
    waits: str
    count: int | None
    guide: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class ShownPlace:
    """A place with the tabs that the person may open; its link is that of the first."""

    title: str
    icon: str
    tabs: tuple[ShownTab, ...]

    @property
    def first(self) -> ShownTab:
        """Return the tab that the entry of the sidebar leads to."""
        return self.tabs[0]

    @property
    def names(self) -> tuple[str, ...]:
        """Return what the pages are called: the first one as the place is, the others as tabs."""
        return (self.title, *(tab.title for tab in self.tabs[1:]))

    @property
    def current(self) -> str:
        """Return the value of `aria-current` of the place's entry, "" when one is elsewhere."""
        if self.first.is_current:
            return "page"
        return "true" if any(tab.is_current for tab in self.tabs) else ""


@dataclass(frozen=True, slots=True)
class Shell:
    """The sidebar of a page, and the place where the page is (None: nowhere in it)."""

    places: tuple[ShownPlace, ...]
    administration: ShownPlace | None
    here: ShownPlace | None

    @property
    def title(self) -> str:
        """Return the name of the current tab, of the first one that of its place; "" in none."""
        if self.here is None:
            return ""
        tabs = zip(self.here.tabs, self.here.names, strict=True)
        return next((title for tab, title in tabs if tab.is_current), "")

    def name_of(self, link: str) -> str:
        """Return what the page at an address is called; "" if no tab leads to it."""
        for place in (*self.places, self.administration):
            for tab, name in zip(place.tabs, place.names, strict=True) if place else ():
                if tab.link == link:
                    return name
        return ""

    @property
    def guide(self) -> str:
        """Return the address of the guide to the current tab; "" for none."""
        tabs = self.here.tabs if self.here else ()
        name, _, anchor = next((tab.guide for tab in tabs if tab.is_current), "").partition("#")
        return f"{reverse('console:guide', args=[name])}#{anchor}" if name else ""


def shell_of(request: HttpRequest) -> Shell:
    """Return the sidebar and tabs of a request, with the current ones marked.

    The counts are those of the inbox, read once a request.
    """
    current = _find_current(request)
    places = [shown for place in PLACES if (shown := _show(request, place, current))]
    administration = _show(request, ADMINISTRATION, current)
    here = (place for place in (*places, administration) if place and place.current)
    return Shell(tuple(places), administration, next(here, None))


def _show(request: HttpRequest, place: Place, current: Tab | None) -> ShownPlace | None:
    tabs = tuple(
        ShownTab(
            tab.title,
            _link(request, tab),
            tab.waits,
            _count_waiting(request, tab),
            tab.guide or place.guide,
            tab == current,
        )
        for tab in place.tabs
        if _is_shown(request, tab)
    )
    return ShownPlace(place.title, place.icon, tabs) if tabs else None


def _is_shown(request: HttpRequest, tab: Tab) -> bool:
    if tab.is_for_superusers and request.user.is_superuser:
        return True
    return tab.needs is not None and has_role(request, tab.needs)


def _link(request: HttpRequest, tab: Tab) -> str:
    staff = staff_or_none(request)
    if tab.route == OF_WORKSPACE and staff is not None:
        return reverse(tab.route, args=[staff.workspace.pk])
    return _path(tab.route, get_script_prefix())


@lru_cache(maxsize=256)
def _path(route: str, script_prefix: str) -> str:
    """Return the path of a route without parameters; `reverse` puts the request's prefix before it.

    Every page asks for all of them twice.
    """
    return reverse(route)


def _count_waiting(request: HttpRequest, tab: Tab) -> int | None:
    """Return the number of pending items of a tab; None if it has no counter."""
    if not tab.waits:
        return None
    if tab.waits == "inbox":
        return count_waiting(request)
    tallies = tallies_for(request)
    return tallies[tab.waits].count if tab.waits in tallies else 0


def _find_current(request: HttpRequest) -> Tab | None:
    """Return the tab to which the page belongs: the one of the longest path that it begins with."""
    tabs = [tab for place in (*PLACES, ADMINISTRATION) for tab in place.tabs]
    fits = [
        (len(prefix), index)
        for index, tab in enumerate(tabs)
        if _is_shown(request, tab)
        for prefix in _prefixes(request, tab)
        if request.path == prefix or (prefix != "/" and request.path.startswith(prefix))
    ]
    return tabs[max(fits)[1]] if fits else None


def _prefixes(request: HttpRequest, tab: Tab) -> Sequence[str]:
    link = _link(request, tab)
    # All pages of the current workspace's row: its form, and its deletion.
    own = link.removesuffix("change/") if tab.route == OF_WORKSPACE else link
    return (own, *tab.also)


def frame(request: HttpRequest) -> dict[str, str]:
    """Return the frame of pages that everybody may open, for templates: to members, the shell."""
    is_member = staff_or_none(request) is not None
    return {"frame": "console/card.html" if is_member else "console/plain.html"}


def site_icon(request: HttpRequest) -> str:
    """Return Engram's logo, for the browser tab of the admin."""
    return static("console/mark.svg")


def admin_style(request: HttpRequest) -> str:
    """Return the URL of the stylesheet shared by the console and the admin."""
    return static("console/console.css")


def admin_script(request: HttpRequest) -> str:
    """Return the URL of the script of the sidebar's switches."""
    return static("console/theme.js")


def zone_script(request: HttpRequest) -> str:
    """Return the URL of the script that tells the reader's time zone."""
    return static("console/zone.js")
