"""The admin of invitations: the link is shown once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from unfold.decorators import action, display
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from engram.kernel import invitations
from engram.kernel.admin.bound import BoundAdmin
from engram.kernel.invitations import LASTS
from engram.kernel.models import Invitation, Membership, Role
from engram.kernel.pages import staff_of
from engram.kernel.staff import moment_column


class InvitationForm(forms.ModelForm):  # type: ignore[type-arg]
    """Form of an invitation: name, role and expiry; the account is not looked up."""

    class Meta:
        model = Invitation
        fields = ["username", "role", "days"]
        widgets = {"role": UnfoldAdminSelectWidget, "username": UnfoldAdminTextInputWidget}
        labels = {"username": "User name"}
        help_texts = {
            "role": Role.in_words(),
            "username": "The name under which the person signs in. The link works for nobody else; "
            "whether such an account exists is not revealed.",
        }

    days = forms.TypedChoiceField(
        label="Can be used for",
        coerce=int,
        initial=LASTS.days,
        choices=[(1, "one day"), (7, "a week"), (30, "a month")],
        widget=UnfoldAdminSelectWidget,
    )

    def clean_username(self) -> str:
        """Refuse invalid names, and members, who are in the list of members anyway."""
        username: str = self.cleaned_data["username"]
        UnicodeUsernameValidator()(username)
        members = Membership.objects.filter(workspace=self.instance.workspace_id)
        if members.filter(user__username=username).exists():
            raise forms.ValidationError("This person is a member already.")
        return username


@admin.register(Invitation)
class InvitationAdmin(BoundAdmin):
    """Invitations: the link is shown once, and can be revoked."""

    roles = {"view": Role.ADMIN, "add": Role.ADMIN, "act": Role.ADMIN}
    form = InvitationForm
    list_display = ["username", "role", "condition", "invited_by", "ends_at", "made_at"]
    ends_at = moment_column("expires_at", "can be used until")
    made_at = moment_column("created_at", "invited")
    actions = ["revoke"]
    empty_text = "Nobody was invited yet. Add an invitation, and send its link to the person."
    empty_next = ("Add an invitation", "admin:kernel_invitation_add")

    @display(
        description="state",
        label={"open": "info", "accepted": "success", "revoked": "danger", "expired": "warning"},
    )
    def condition(self, invitation: Invitation) -> str:
        """Return the invitation's state, in words."""
        return invitation.condition(timezone.now())

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Return few fields for a new invitation and all for an existing one; never the digest."""
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
        """Create the invitation; only the answer to this request has the token."""
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
        """Revoke open invitations."""
        staff, now = staff_of(request), timezone.now()

        def work(chosen: QuerySet[Invitation]) -> int:
            return sum(invitations.revoke(one, actor=staff.actor, now=now) for one in chosen)

        still_open = {"accepted_at": None, "declined_at": None, "revoked_at": None}
        return self.confirm(
            request,
            rows.filter(**still_open, expires_at__gt=now),
            question="Revoke {n} invitations?",
            consequence="Their links cannot be used any more. Who has accepted stays a member.",
            button="Revoke",
            done="{n} invitations revoked.",
            work=work,
        )
