"""The admin of accounts: superusers only."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as StockUserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.admin import ModelAdmin
from unfold.decorators import display
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from engram.kernel.staff import OneButton, OwnFiltersOnly, moment_column

admin.site.unregister(User)
admin.site.unregister(Group)  # rights come from roles in workspaces, never from groups


class NewAccountForm(UserCreationForm):  # type: ignore[misc]
    """Form of a new account."""

    class Meta(UserCreationForm.Meta):  # type: ignore[misc]
        labels = {"username": "User name"}


class AccountForm(UserChangeForm):  # type: ignore[misc]
    """Form of an account, in the words of Engram."""

    class Meta(UserChangeForm.Meta):  # type: ignore[misc]
        labels = {
            "username": "User name",
            "is_active": "May sign in",
            "is_staff": "Sees pages without a workspace",
            "is_superuser": "Administers this installation",
        }
        help_texts = {
            "is_active": "Switch this off rather than delete the account.",
            "is_staff": "Members of a workspace need it not.",
            "is_superuser": "Makes accounts and workspaces, and sees failed sign-ins. It opens no"
            " workspace: what one may do there depends on the role as a member.",
        }


@admin.register(User)
class UserAdmin(OneButton, OwnFiltersOnly, StockUserAdmin, ModelAdmin):  # type: ignore[misc,type-arg]
    """Accounts, which belong to the installation and not to a workspace."""

    form = AccountForm
    add_form = NewAccountForm
    change_password_form = AdminPasswordChangeForm
    list_display = ["username", "email", "member_of", "may_sign_in", "administers", "signed_in_at"]
    list_filter = ["is_active", "is_superuser"]  # type: ignore[misc]
    add_fieldsets = [(None, {"fields": ["username", "password1", "password2"]})]
    fieldsets = [
        (None, {"fields": ["username", "password_link", "email", "first_name", "last_name"]}),
        ("Rights", {"fields": ["is_active", "is_superuser", "is_staff", "member_of"]}),
        ("Times", {"fields": ["signed_in_at", "made_at"]}),
    ]
    readonly_fields = ["password_link", "member_of", "signed_in_at", "made_at"]

    signed_in_at = moment_column("last_login", "last sign-in")
    made_at = moment_column("date_joined", "created")

    @display(description="may sign in", boolean=True, ordering="is_active")
    def may_sign_in(self, user: User) -> bool:
        """Return whether the account is switched on."""
        return user.is_active

    @display(description="administers", boolean=True, ordering="is_superuser")
    def administers(self, user: User) -> bool:
        """Return whether the person administers the installation."""
        return user.is_superuser

    @display(description="password")
    def password_link(self, user: User) -> SafeString:
        """Return where the password is changed; it is stored as a hash, which tells nothing."""
        page = reverse("admin:auth_user_password_change", args=[user.pk])
        return format_html('<span class="eg in-admin"><a href="{}">Change it</a></span>', page)

    @display(description="member of")
    def member_of(self, user: User) -> str:
        """Return the workspaces of a person, each with the role."""
        joined = user.memberships.all()
        return ", ".join(f"{one.workspace.name} ({one.get_role_display()})" for one in joined)

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        """Return the accounts with their workspaces, by one query for all."""
        found: QuerySet[User] = super().get_queryset(request)
        return found.prefetch_related("memberships__workspace")

    def _is_superuser(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.is_active and request.user.is_superuser

    has_module_permission = has_view_permission = _is_superuser
    has_add_permission = has_change_permission = has_delete_permission = _is_superuser
