"""The admin of workspaces, members, invitations, keys, people and history."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as StockGroupAdmin
from django.contrib.auth.admin import UserAdmin as StockUserAdmin
from django.contrib.auth.models import Group, User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from unfold.admin import ModelAdmin
from unfold.decorators import action, display
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from engram.kernel import invitations, keys, sign_in_admin  # noqa: F401  the last registers itself
from engram.kernel.history import record
from engram.kernel.invitations import LASTS
from engram.kernel.models import ApiKey, Event, Invitation, Membership, Provenance, Role, Workspace
from engram.kernel.pages import has_role, staff_of
from engram.kernel.refusals import InvalidError
from engram.kernel.services import change_settings
from engram.kernel.staff import OwnFiltersOnly, ReadOnlyAdmin, RoleAdmin, moment_column

admin.site.unregister(User)
admin.site.unregister(Group)


class SuperusersOnly:
    """Accounts belong to the installation, not to a workspace."""

    def _is_superuser(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.is_active and request.user.is_superuser

    has_module_permission = has_view_permission = _is_superuser
    has_add_permission = has_change_permission = has_delete_permission = _is_superuser


@admin.register(User)
class UserAdmin(SuperusersOnly, OwnFiltersOnly, StockUserAdmin, ModelAdmin):  # type: ignore[misc,type-arg]
    """Accounts."""

    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm


@admin.register(Group)
class GroupAdmin(SuperusersOnly, OwnFiltersOnly, StockGroupAdmin, ModelAdmin):  # type: ignore[misc]
    """Groups of accounts."""


class WorkspaceForm(forms.ModelForm):  # type: ignore[type-arg]
    """Name and settings of a workspace."""

    class Meta:
        model = Workspace
        fields = ["name", "slug"]

    settings_json = forms.CharField(
        label="Settings",
        required=False,
        widget=UnfoldAdminTextareaWidget,
        help_text="JSON; only what differs from the defaults. Each name, its range and meaning "
        "stand in GET /api/v1/workspace/settings.",
    )

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.initial["settings_json"] = json.dumps(self.instance.settings, indent=2)

    def clean_settings_json(self) -> dict[str, Any]:
        """Return the settings as an object."""
        try:
            found = json.loads(self.cleaned_data["settings_json"] or "{}")
        except (ValueError, RecursionError):
            raise forms.ValidationError("This is not JSON.") from None
        if not isinstance(found, dict):
            raise forms.ValidationError("This must be a JSON object.")
        try:
            Workspace(settings=found).config  # noqa: B018  reading it validates
        except ValueError as error:
            raise forms.ValidationError(str(error)) from None
        return found


@admin.register(Workspace)
class WorkspaceAdmin(RoleAdmin):
    """The workspaces that a member belongs to; the one being looked at can be changed."""

    roles = {"view": Role.READER, "change": Role.ADMIN}
    form = WorkspaceForm
    fields = ["name", "slug", "settings_json"]
    list_display = ["name", "slug", "made_at"]

    made_at = moment_column("created_at", "created")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Workspace]:
        """Return the member's own workspaces."""
        found: QuerySet[Workspace] = super().get_queryset(request)
        return found.filter(memberships__user=request.user.pk)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Let superusers make workspaces, also before they belong to one."""
        return request.user.is_superuser

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Show the section to members and to superusers."""
        return super().has_module_permission(request) or self.has_add_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Let admins change the workspace that they look at, not the others."""
        is_here = obj is None or (
            has_role(request, Role.READER) and obj == staff_of(request).workspace
        )
        return is_here and super().has_change_permission(request, obj)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save names plainly, settings through their service; the maker becomes an admin."""
        wanted = form.cleaned_data["settings_json"]
        if not change:
            obj.settings = wanted
            obj.save()
            maker = User.objects.get(username=request.user.get_username())
            Membership.objects.create(workspace=obj, user=maker, role=Role.ADMIN)
            return
        obj.save(update_fields=["name", "slug"])
        defaults = Workspace().config.model_dump()
        back = {name: defaults[name] for name in obj.settings if name not in wanted}
        try:
            change_settings(
                obj, {**back, **wanted}, actor=staff_of(request).actor, now=timezone.now()
            )
        except InvalidError as error:
            self.message_user(request, f"Settings not changed: {error.detail}", level="ERROR")


class MemberForm(forms.ModelForm):  # type: ignore[type-arg]
    """An account by name, and its role here."""

    class Meta:
        model = Membership
        fields = ["role"]

    username = forms.CharField(max_length=150, widget=UnfoldAdminTextInputWidget)

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.fields["username"].disabled = True
            self.initial["username"] = self.instance.user.username

    def clean_username(self) -> str:
        """Find the account."""
        username: str = self.cleaned_data["username"]
        user = User.objects.filter(username=username, is_active=True).first()
        if user is None:
            raise forms.ValidationError("There is no such account; a superuser can make one.")
        taken = Membership.objects.filter(workspace=self.instance.workspace_id, user=user)
        if self.instance.pk is None and taken.exists():
            raise forms.ValidationError("This person is a member already.")
        self.instance.user = user
        return username

    def clean_role(self) -> str:
        """Keep one admin."""
        role: str = self.cleaned_data["role"]
        if role != Role.ADMIN and is_last_admin(self.instance):
            raise forms.ValidationError("This is the last admin of the workspace.")
        return role


def is_last_admin(member: Membership) -> bool:
    """Tell whether nobody else could administer the workspace."""
    if member.pk is None:
        return False
    admins = Membership.objects.filter(workspace=member.workspace_id, role=Role.ADMIN)
    return admins.filter(pk=member.pk).exists() and admins.count() == 1


class BoundAdmin(RoleAdmin):
    """Rows of a table outside of row-level security, confined to the workspace being looked at."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the rows of the workspace being looked at."""
        found: QuerySet[Any] = super().get_queryset(request)
        return found.filter(workspace=staff_of(request).workspace)

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kw: Any
    ) -> Any:
        """Bind new rows to the workspace being looked at."""
        shape = super().get_form(request, obj, change, **kw)
        workspace, model = staff_of(request).workspace, self.model

        class Bound(shape):  # type: ignore[misc,valid-type]
            def __init__(self, *args: Any, **kwargs: Any):
                if kwargs.get("instance") is None:
                    kwargs["instance"] = model(workspace=workspace)
                super().__init__(*args, **kwargs)

        return Bound


@admin.register(Membership)
class MembershipAdmin(BoundAdmin):
    """Who belongs to the workspace, in which role."""

    roles = dict.fromkeys(("view", "add", "change", "delete"), Role.ADMIN)
    form = MemberForm
    fields = ["username", "role"]
    list_display = ["user", "role_label", "since"]
    list_select_related = ["user"]

    since = moment_column("created_at", "member since")

    @display(description="role", ordering="role", label={"Admin": "info", "Reviewer": "success"})
    def role_label(self, member: Membership) -> str:
        """Return the role."""
        return str(member.get_role_display())

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Let superusers add people directly; others invite them."""
        return bool(request.user.is_superuser) and super().has_add_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Keep the last admin."""
        if obj is not None and is_last_admin(obj):
            return False
        return super().has_delete_permission(request, obj)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save, and tell history."""
        obj.workspace = staff_of(request).workspace
        obj.save()
        self._tell(request, obj, "member.changed" if change else "member.added")

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        """Take the role away, and tell history."""
        self._tell(request, obj, "member.removed")
        obj.delete()

    def _tell(self, request: HttpRequest, member: Membership, what: str) -> None:
        record(
            what,
            of=("membership", str(member.pk)),
            actor=staff_of(request).actor,
            now=timezone.now(),
            data={"username": member.user.username, "role": member.role},
        )


class InvitationForm(forms.ModelForm):  # type: ignore[type-arg]
    """Whom to invite, as what, and until when; nobody is looked up."""

    class Meta:
        model = Invitation
        fields = ["username", "role", "days"]
        widgets = {"role": UnfoldAdminSelectWidget, "username": UnfoldAdminTextInputWidget}
        help_texts = {
            "username": "The name under which the person signs in. The link works for nobody else; "
            "whether there is such an account is not told."
        }

    days = forms.TypedChoiceField(
        label="Can be used for",
        coerce=int,
        initial=LASTS.days,
        choices=[(1, "one day"), (7, "a week"), (30, "a month")],
        widget=UnfoldAdminSelectWidget,
    )

    def clean_username(self) -> str:
        """Refuse what can be no name, and who is a member already: that stands in the list."""
        username: str = self.cleaned_data["username"]
        UnicodeUsernameValidator()(username)
        members = Membership.objects.filter(workspace=self.instance.workspace_id)
        if members.filter(user__username=username).exists():
            raise forms.ValidationError("This person is a member already.")
        return username


@admin.register(Invitation)
class InvitationAdmin(BoundAdmin):
    """Who was invited: the link is shown once, and can be revoked."""

    roles = {"view": Role.ADMIN, "add": Role.ADMIN, "act": Role.ADMIN}
    form = InvitationForm
    list_display = ["username", "role", "condition", "invited_by", "ends_at", "made_at"]
    ends_at = moment_column("expires_at", "can be used until")
    made_at = moment_column("created_at", "invited")
    actions = ["revoke"]
    empty_text = "Nobody was invited yet. Add an invitation, and send its link to the person."

    @display(
        description="state",
        label={"open": "info", "accepted": "success", "revoked": "danger", "expired": "warning"},
    )
    def condition(self, invitation: Invitation) -> str:
        """Say what became of it."""
        return invitation.condition(timezone.now())

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Ask for little, show everything later; never the digest."""
        if obj is None:
            return ["username", "role", "days"]
        return [
            "username", "role", "condition", "invited_by", "created_at", "expires_at",
            "accepted_at", "declined_at", "revoked_at",
        ]  # fmt: skip

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Change nothing about an invitation but to revoke it."""
        return [] if obj is None else self.get_fields(request, obj)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Invite; the token lives in the answer to this request only."""
        staff = staff_of(request)
        made, token = invitations.invite(
            staff.workspace,
            username=obj.username,
            role=Role(obj.role),
            actor=staff.actor,
            now=timezone.now(),
            lasts=timedelta(days=form.cleaned_data["days"]),
        )
        obj.pk, obj.expires_at = made.pk, made.expires_at
        request.invitation_token = token  # type: ignore[attr-defined]

    def response_add(
        self, request: HttpRequest, obj: Any, post_url_continue: Any = None
    ) -> HttpResponse:
        """Show the link, once."""
        path = reverse("console:invitation", args=[request.invitation_token])  # type: ignore[attr-defined]
        context = {
            **self.admin_site.each_context(request),
            "title": "Invitation",
            "opts": self.opts,
            "invitation": obj,
            "link": request.build_absolute_uri(path),
        }
        response = TemplateResponse(request, "admin/kernel/invitation/link.html", context)
        response["Cache-Control"] = "no-store"
        return response

    @action(description="Revoke", permissions=["act"])
    def revoke(self, request: HttpRequest, rows: QuerySet[Invitation]) -> HttpResponse | None:
        """Make links useless."""
        staff, now = staff_of(request), timezone.now()

        def work(chosen: QuerySet[Invitation]) -> int:
            return sum(invitations.revoke(one, actor=staff.actor, now=now) for one in chosen)

        still_open = {"accepted_at": None, "declined_at": None, "revoked_at": None}
        return self.confirmed(
            request,
            rows.filter(**still_open, expires_at__gt=now),
            question="Revoke {n} invitations?",
            consequence="Their links cannot be used any more. Who has accepted stays a member.",
            button="Revoke",
            done="{n} invitations revoked.",
            work=work,
        )


class KeyForm(forms.ModelForm):  # type: ignore[type-arg]
    """What a new key may do, and until when."""

    class Meta:
        model = ApiKey
        fields = [
            "name", "role", "provenance_ceiling", "may_relay", "may_pin", "agent", "expires_at",
        ]  # fmt: skip
        widgets = {"role": UnfoldAdminSelectWidget}
        labels = {"may_relay": "Passes on a user's own words", "may_pin": "May pin"}
        help_texts = {
            "may_relay": "Its calls may claim that a user stated what they commit (relay).",
            "may_pin": "It may write and change pins and constraints, which lead everybody's "
            "sessions. Reviewers and admins always may.",
            "agent": "The name under which it writes, always. Empty: the name that each call "
            "claims.",
        }

    provenance_ceiling = forms.ChoiceField(
        choices=[("", "By role"), *Provenance.choices],
        required=False,
        widget=UnfoldAdminSelectWidget,
        help_text="The most trusted class that its calls may claim; what goes beyond waits for a "
        "person. By role: assistant derived; of reviewers and admins user stated.",
    )

    def clean(self) -> dict[str, Any]:
        """Refuse claims that make no sense for the role."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if "role" not in cleaned:
            return cleaned
        try:
            self.claims = keys.claims_of(
                Role(cleaned["role"]),
                provenance_ceiling=cleaned.get("provenance_ceiling") or None,
                may_relay=cleaned.get("may_relay"),
                may_pin=cleaned.get("may_pin") or None,
                agent=cleaned.get("agent", ""),
            )
        except InvalidError as error:
            field = {"relay": "may_relay"}.get(error.field, error.field)
            self.add_error(field, error.message)
        return cleaned

    def clean_expires_at(self) -> Any:
        """Refuse a key that is dead at birth."""
        moment = self.cleaned_data["expires_at"]
        if moment is not None and moment <= timezone.now():
            raise forms.ValidationError("Must be in the future.")
        return moment


@admin.register(ApiKey)
class ApiKeyAdmin(RoleAdmin):
    """Keys: made, shown once, revoked."""

    roles = {"view": Role.ADMIN, "add": Role.ADMIN, "act": Role.ADMIN}
    form = KeyForm
    list_display = [
        "name", "prefix_shown", "role", "claims", "condition", "use_count", "used_at", "ends_at",
        "made_at",
    ]  # fmt: skip
    used_at = moment_column("last_used_at", "last used")
    ends_at = moment_column("expires_at", "expires")
    made_at = moment_column("created_at", "created")
    search_fields = ["name", "prefix"]
    actions = ["revoke"]
    list_filter = ["role"]

    @display(description="key", ordering="prefix")
    def prefix_shown(self, key: ApiKey) -> str:
        """Return how the key begins."""
        return f"{key.prefix}…"

    @display(description="may claim")
    def claims(self, key: ApiKey) -> str:
        """Return what its calls may claim without asking a person."""
        if key.role == Role.READER:
            return "–"
        said = [str(key.get_provenance_ceiling_display()).lower()]
        said += ["relay"] if key.may_relay else []
        said += ["may pin"] if key.may_pin else []
        return ", ".join(said) + (f", as {key.agent}" if key.agent else "")

    @display(
        description="state", label={"active": "success", "revoked": "danger", "expired": "warning"}
    )
    def condition(self, key: ApiKey) -> str:
        """Say whether the key opens anything."""
        if key.revoked_at is not None:
            return "revoked"
        is_expired = key.expires_at is not None and key.expires_at <= timezone.now()
        return "expired" if is_expired else "active"

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Ask for little at birth, show everything later."""
        if obj is None:
            return [*KeyForm.Meta.fields]
        return [
            "name", "prefix", "role", "provenance_ceiling", "may_relay", "may_pin", "agent",
            "condition", "created_at", "expires_at", "revoked_at",
            "last_used_at", "use_count",
        ]  # fmt: skip

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Change nothing about a key but to revoke it."""
        return [] if obj is None else self.get_fields(request, obj)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Issue the key; the token lives in the answer to this request only."""
        staff = staff_of(request)
        key, token = keys.issue(
            staff.workspace,
            name=obj.name,
            role=Role(obj.role),
            expires_at=obj.expires_at,
            claims=form.claims,
            actor=staff.actor,
            now=timezone.now(),
        )
        obj.pk = key.pk
        obj.prefix = key.prefix
        request.issued_token = token  # type: ignore[attr-defined]

    def response_add(
        self, request: HttpRequest, obj: Any, post_url_continue: Any = None
    ) -> HttpResponse:
        """Show the token, once."""
        context = {
            **self.admin_site.each_context(request),
            "title": "Key created",
            "opts": self.opts,
            "key": obj,
            "token": request.issued_token,  # type: ignore[attr-defined]
            "host": request.build_absolute_uri("/").rstrip("/"),
        }
        response = TemplateResponse(request, "admin/kernel/apikey/token.html", context)
        response["Cache-Control"] = "no-store"
        return response

    @action(description="Revoke", permissions=["act"])
    def revoke(self, request: HttpRequest, rows: QuerySet[ApiKey]) -> HttpResponse | None:
        """Revoke keys for good."""
        staff = staff_of(request)

        def work(chosen: QuerySet[ApiKey]) -> int:
            now = timezone.now()
            return sum(keys.revoke(key, actor=staff.actor, now=now) for key in chosen)

        return self.confirmed(
            request,
            rows.filter(revoked_at=None),
            question="Revoke {n} keys?",
            consequence="Whoever uses them is refused from the next request on. This cannot be "
            "undone; a new key can be made at any time.",
            button="Revoke",
            done="{n} keys revoked.",
            work=work,
        )


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    """History: written with what it tells, never changed."""

    list_display = ["told_at", "type", "actor_label", "actor_kind", "object_type", "object_id"]
    list_display_links = ["told_at"]
    told_at = moment_column("at", "at")
    list_filter = ["actor_kind", "object_type"]
    search_fields = ["object_id"]
    search_help_text = "A type such as memory.forgotten, an actor, or an object's id"
    ordering = ["-seq"]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Event], search_term: str
    ) -> tuple[QuerySet[Event], bool]:
        """Find events by exact type, actor or object."""
        term = search_term.strip()
        if not term:
            return queryset, False
        found = (
            queryset.filter(type=term)
            | queryset.filter(object_id=term)
            | queryset.filter(actor_label=term)
        )
        return found, False
