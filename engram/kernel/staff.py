"""Base classes and helpers of admin pages: permissions by role, changes by services."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.admin import ModelAdmin

from engram.kernel.labels import UNBROKEN, Count, duration_words, figure
from engram.kernel.models import Role
from engram.kernel.pages import has_role
from engram.kernel.refusals import RefusalError

Work = Callable[[QuerySet[Any]], int]


def format_moment(moment: datetime) -> str:
    """Return a short format of a time, in the current time zone."""
    return f"{timezone.localtime(moment):%-d %b %Y, %H:%M}"


def moment_column(field: str, title: str) -> Callable[[Any, Any], str | None]:
    """Return a list column of a time; it wraps only between day and hour."""

    @admin.display(description=title, ordering=field)
    def shown(self: Any, row: Any) -> str | None:
        moment = getattr(row, field)
        return None if moment is None else format_moment(moment).replace(" ", UNBROKEN, 2)

    return shown


def figure_column(
    field: str, title: str, shape: str | Callable[[float], str] = ".3f"
) -> Callable[[Any, Any], str | None]:
    """Return a list column that shows a number in a format, or as a function writes it.

    No line break parts the number from its unit.
    """

    @admin.display(description=title, ordering=field)
    def shown(self: Any, row: Any) -> str | None:
        value = getattr(row, field)
        if value is None:
            return None
        written = figure(value, shape) if isinstance(shape, str) else shape(value)
        return written.replace(" ", UNBROKEN)

    return shown


def seconds_column(field: str, title: str) -> Callable[[Any, Any], str | None]:
    """Return a list column of a duration."""

    @admin.display(description=title, ordering=field)
    def shown(self: Any, row: Any) -> str | None:
        seconds = getattr(row, field)
        return None if seconds is None else duration_words(seconds)

    return shown


def _lookup_of(entry: Any) -> str:
    """Return the query parameter of an entry of `list_filter`."""
    if isinstance(entry, tuple):
        return str(entry[0])
    return str(getattr(entry, "parameter_name", entry))


class OwnFiltersOnly:
    """A list that accepts only the filters of its page in the address."""

    list_filter: Any

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Allow only the list's own filters.

        Django allows filters on any field of the row (`?content__contains=…`), which would reveal
        texts that the page withholds, and fail on times that the database cannot store.
        """
        offered = {_lookup_of(entry) for entry in self.list_filter}
        plain = lookup.removesuffix("__exact").removesuffix("__in").removesuffix("__isnull")
        return plain.removesuffix("__id") in offered


class OneButton:
    """A form with one button: it saves. The list offers to add more."""

    def render_change_form(self, request: HttpRequest, context: Any, **more: Any) -> HttpResponse:
        """Leave out "Save and add another" and "Save and continue editing"."""
        context |= {"show_save_and_add_another": False, "show_save_and_continue": False}
        response: HttpResponse = super().render_change_form(request, context, **more)  # type: ignore[misc]
        return response


def refusal_of(row: Model, reason: str) -> SafeString:
    """Return the message of a refusal for a row, with a link to it.

    It contains no text of the row: messages stay in the session until the next page, even if the
    text is forgotten or erased meanwhile.
    """
    opts = row._meta
    page = reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=[row.pk])
    return format_html('<a href="{}">{}</a>: {}', page, row, reason)


class RoleAdmin(OneButton, OwnFiltersOnly, ModelAdmin):  # type: ignore[misc]
    """Admin pages of the current workspace's rows, with permissions by the member's role.

    Django's log of admin changes is not written: it would store texts that are forgotten later.
    """

    roles: ClassVar[dict[str, Role]] = {"view": Role.READER}
    noun = ""  # "member|members": what rows are called, if not as their model
    empty_text = ""  # explains the list while it is empty
    empty_next = ("", "")  # what to do about it: the words of a link, and its route
    empty_value_display = "–"
    list_per_page = 50
    show_full_result_count = False
    list_fullwidth = True

    @property
    def name_of_one(self) -> str:
        """Return what a row is called."""
        return self.noun.partition("|")[0] or str(self.opts.verbose_name)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Show the form of a new row under its name."""
        named = {"title": f"Add {self.name_of_one}", **(extra_context or {})}
        response: HttpResponse = super().add_view(request, form_url, named)
        return response

    def heading_of(self, row: Any) -> str:
        """Return what the page of a row is headed with; its text only if its page shows it."""
        return str(row)

    def render_change_form(
        self, request: HttpRequest, context: Any, *given: Any, obj: Any = None, **more: Any
    ) -> HttpResponse:
        """Head the page of a row, and the window, by `heading_of`."""
        if obj is not None:
            obj.heading = context["subtitle"] = self.heading_of(obj)
        response: HttpResponse = super().render_change_form(
            request, context, *given, obj=obj, **more
        )
        return response

    def _may(self, request: HttpRequest, what: str) -> bool:
        needed = self.roles.get(what)
        return needed is not None and has_role(request, needed)

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Show the section to members."""
        return self._may(request, "view")

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Allow members with the role to view."""
        return self._may(request, "view")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Allow members with the role to add, where adding is possible."""
        return self._may(request, "add")

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Allow members with the role to change, where changing is possible."""
        return self._may(request, "change")

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Allow members with the role to delete, where deleting is possible."""
        return self._may(request, "delete")

    def has_act_permission(self, request: HttpRequest) -> bool:
        """Allow members with the role to use the actions of the list."""
        return self._may(request, "act")

    def get_object(self, request: HttpRequest, object_id: str, from_field: Any = None) -> Any:
        """Return a row after checking the permission, which Django checks only with the row.

        People without a workspace have no rows, and no query is possible.
        """
        if not self.has_view_permission(request):
            raise PermissionDenied
        return super().get_object(request, object_id, from_field)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Show the list; its actions need the role."""
        if request.method == "POST" and not self.has_act_permission(request):
            raise PermissionDenied
        response: HttpResponse = super().changelist_view(request, extra_context)
        return response

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Return only the actions that call services."""
        actions: dict[str, Any] = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions

    def log_addition(self, *args: Any) -> None:
        """Write no log entry: services record an `Event`."""

    def log_change(self, *args: Any) -> None:
        """Write no log entry: services record an `Event`."""

    def log_deletions(self, *args: Any) -> None:
        """Write no log entry: services record an `Event`."""

    def name_of(self, row: Any) -> str:
        """Return the name of a row in confirmations; its text only if its page shows it."""
        return str(row)

    def confirm(
        self,
        request: HttpRequest,
        rows: QuerySet[Any],
        *,
        question: str,
        consequence: str,
        button: str,
        done: str,
        work: Work,
        is_grave: bool = True,
        asks_for: str = "",
    ) -> HttpResponse | None:
        """Show a confirmation with the number of rows; if confirmed, do the work.

        `question` and `done` contain the number as `{n}`, or with its noun as `{n:note}`.
        `asks_for` is the label of a text field that is sent as `note`.
        """
        if request.POST.get("confirmed") == "yes":
            messages.success(request, done.format(n=Count(work(rows))))
            return None
        carried = [
            (name, value)
            for name in ("action", "select_across", "_selected_action")
            for value in request.POST.getlist(name)
        ]
        context = {
            **self.admin_site.each_context(request),
            "title": question.format(n=Count(rows.count())),
            "opts": self.opts,
            "consequence": consequence,
            "button": button,
            "is_grave": is_grave,
            "asks_for": asks_for,
            "rows": [self.name_of(row) for row in rows[:20]],
            "more": max(rows.count() - 20, 0),
            "carried": carried,
        }
        return TemplateResponse(request, "admin/confirm.html", context)

    def one_by_one(
        self, request: HttpRequest, rows: Iterable[Any], work: Callable[[Any], object]
    ) -> int:
        """Do the work for each row and return the number of successes.

        A refused row is shown in a message with the reason, and does not stop the others.
        """
        done = 0
        for row in rows:
            try:
                work(row)
            except RefusalError as error:
                messages.warning(request, refusal_of(row, error.detail))
            else:
                done += 1
        return done


class ShownAdmin(RoleAdmin):
    """Admin pages of rows that cannot be edited; `show` answers with the page of one."""

    def show(self, request: HttpRequest, row: Any) -> HttpResponse:
        """Return the page of a row, or lead to it."""
        raise NotImplementedError

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Show one row; 403 for who may not see it or wants to change it, 404 where none is."""
        if not self.has_view_permission(request) or request.method != "GET":
            raise PermissionDenied
        row = self.get_object(request, unquote(object_id))
        if row is None:
            raise Http404
        return self.show(request, row)


class ReadOnlyAdmin(RoleAdmin):
    """Admin pages of rows that cannot be edited."""

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Show every field, change none."""
        return [field.name for field in self.opts.fields]
