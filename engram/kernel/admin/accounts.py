"""The admin of accounts and their groups: superusers only."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as StockGroupAdmin
from django.contrib.auth.admin import UserAdmin as StockUserAdmin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from engram.kernel.staff import OwnFiltersOnly

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
    filter_horizontal = ()  # whose two lists label their help wrongly for screen readers


@admin.register(Group)
class GroupAdmin(SuperusersOnly, OwnFiltersOnly, StockGroupAdmin, ModelAdmin):  # type: ignore[misc]
    """Groups of accounts."""

    filter_horizontal = ()  # as of accounts
