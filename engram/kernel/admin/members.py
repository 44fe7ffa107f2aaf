"""The admin of a workspace's members and their roles."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils import timezone
from unfold.decorators import display
from unfold.widgets import (
    UnfoldAdminTextInputWidget,
)

from engram.kernel import invitations
from engram.kernel.admin.bound import BoundAdmin
from engram.kernel.history import record
from engram.kernel.models import Membership, Role
from engram.kernel.pages import staff_of
from engram.kernel.staff import moment_column


class MemberForm(forms.ModelForm):  # type: ignore[type-arg]
    """Form of a member: the account's name and its role."""

    class Meta:
        model = Membership
        fields = ["role"]
        help_texts = {"role": Role.in_words()}

    username = forms.CharField(
        label="User name",
        max_length=150,
        widget=UnfoldAdminTextInputWidget,
        help_text="The name under which an existing account signs in. Who has none becomes a member"
        " by an invitation.",
    )

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.fields["username"].disabled = True
            self.fields["username"].help_text = ""
            self.initial["username"] = self.instance.user.username

    def clean_username(self) -> str:
        """Find the account."""
        username: str = self.cleaned_data["username"]
        user = User.objects.filter(username=username, is_active=True).first()
        if user is None:
            raise forms.ValidationError("There is no such account. An invitation makes one.")
        taken = Membership.objects.filter(workspace=self.instance.workspace_id, user=user)
        if self.instance.pk is None and taken.exists():
            raise forms.ValidationError("This person is a member already.")
        self.instance.user = user
        return username

    def clean_role(self) -> str:
        """Refuse a change of role that leaves the workspace without an admin."""
        role: str = self.cleaned_data["role"]
        if role != Role.ADMIN and is_last_admin(self.instance):
            raise forms.ValidationError("This is the last admin of the workspace.")
        return role


def is_last_admin(member: Membership) -> bool:
    """Return whether nobody else could administer the workspace."""
    if member.pk is None:
        return False
    admins = Membership.objects.filter(workspace=member.workspace_id, role=Role.ADMIN)
    return admins.filter(pk=member.pk).exists() and admins.count() == 1


@admin.register(Membership)
class MembershipAdmin(BoundAdmin):
    """The workspace's members and their roles."""

    roles = dict.fromkeys(("view", "add", "change", "delete"), Role.ADMIN)
    form = MemberForm
    noun = "member|members"
    fields = ["username", "role"]
    list_display = ["user", "role_label", "since"]
    list_select_related = ["user"]

    since = moment_column("created_at", "member since")

    @display(description="role", ordering="role", label={"Admin": "info", "Reviewer": "success"})
    def role_label(self, member: Membership) -> str:
        """Return the role."""
        return str(member.get_role_display())

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Allow superusers to add people directly; others invite them."""
        return bool(request.user.is_superuser) and super().has_add_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse to remove the last admin."""
        if obj is not None and is_last_admin(obj):
            return False
        return super().has_delete_permission(request, obj)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save, and record it in history."""
        obj.workspace = staff_of(request).workspace
        obj.save()
        self._record(request, obj, "member.changed" if change else "member.added")
        self._revoke_invitations(request, obj)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        """Remove the member, and record it in history."""
        self._record(request, obj, "member.removed")
        obj.delete()
        self._revoke_invitations(request, obj)

    def _revoke_invitations(self, request: HttpRequest, member: Membership) -> None:
        """Revoke the open invitations of people who are no longer admins."""
        invitations.revoke_of_former_admins(
            member.workspace, actor=staff_of(request).actor, now=timezone.now()
        )

    def _record(self, request: HttpRequest, member: Membership, what: str) -> None:
        record(
            what,
            of=("membership", str(member.pk)),
            actor=staff_of(request).actor,
            now=timezone.now(),
            data={"username": member.user.username, "role": member.role},
        )
