"""The admin of API keys: the token is shown once."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.functional import lazy
from unfold.decorators import action, display
from unfold.widgets import (
    UnfoldAdminSelectWidget,
)

from engram.kernel import keys
from engram.kernel.models import ApiKey, Provenance, Role
from engram.kernel.pages import staff_of
from engram.kernel.refusals import InvalidError
from engram.kernel.staff import RoleAdmin, figure_column, moment_column


def _zone_in_words() -> str:
    """Return in which zone times are typed."""
    return f"In {timezone.get_current_timezone_name()}. Empty: never."


class KeyForm(forms.ModelForm):  # type: ignore[type-arg]
    """What a new key may do, and until when."""

    class Meta:
        model = ApiKey
        fields = [
            "name", "role", "provenance_ceiling", "may_relay", "may_pin", "agent", "expires_at",
        ]  # fmt: skip
        widgets = {"role": UnfoldAdminSelectWidget}
        labels = {
            "may_relay": "May pass on what users say",
            "may_pin": "May pin",
            "expires_at": "Expires",
        }
        help_texts = {
            "name": "What lists and the history call it, such as the agent that uses it.",
            "role": Role.in_words(),
            "may_relay": "Its calls may claim that a user stated what they commit (relay).",
            "may_pin": "It may write and change pins and constraints, which lead everybody's "
            "sessions. Reviewers and admins always may.",
            "agent": "The name under which it writes, always. Empty: the name that each call "
            "claims.",
            "expires_at": lazy(_zone_in_words, str)(),
        }

    provenance_ceiling = forms.ChoiceField(
        label="May claim at most",
        choices=[("", "By role"), *Provenance.choices],
        required=False,
        widget=UnfoldAdminSelectWidget,
        help_text="The most trusted source that its calls may name for a statement; what goes"
        " beyond waits for a person. By role: derived by an assistant; of reviewers and admins"
        " stated by a user.",
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
        """Refuse an expiry that is not in the future."""
        moment = self.cleaned_data["expires_at"]
        if moment is not None and moment <= timezone.now():
            raise forms.ValidationError("Must be in the future.")
        return moment


@admin.register(ApiKey)
class ApiKeyAdmin(RoleAdmin):
    """API keys: created, shown once, revoked."""

    roles = {"view": Role.ADMIN, "add": Role.ADMIN, "act": Role.ADMIN}
    form = KeyForm
    list_display = [
        "name", "prefix_shown", "role", "claims", "condition", "uses", "used_at", "ends_at",
        "made_at",
    ]  # fmt: skip
    uses = figure_column("use_count", "requests", ",d")
    used_at = moment_column("last_used_at", "last used")
    ends_at = moment_column("expires_at", "expires")
    made_at = moment_column("created_at", "created")
    search_fields = ["name", "prefix"]
    empty_text = (
        "Agents write and recall with a key. Add one: its token is shown once, and goes where the"
        " agent is configured."
    )
    empty_next = ("Add a key", "admin:kernel_apikey_add")
    actions = ["revoke"]
    list_filter = ["role"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiKey]:
        """Return all keys, with the requests that this process has counted until now."""
        keys.uses.write(staff_of(request).workspace.pk)
        rows: QuerySet[ApiKey] = super().get_queryset(request)
        return rows

    @display(description="key", ordering="prefix")
    def prefix_shown(self, key: ApiKey) -> str:
        """Return the key's prefix."""
        return f"{key.prefix}…"

    @display(description="may claim at most")
    def ceiling(self, key: ApiKey) -> str:
        """Return the most trusted source that its calls may name."""
        return str(key.get_provenance_ceiling_display())

    @display(description="may claim")
    def claims(self, key: ApiKey) -> str:
        """Return what its calls may claim without a person's consent."""
        if key.role == Role.READER:
            return "–"
        claimed = [str(key.get_provenance_ceiling_display()).lower()]
        claimed += ["passes on what users say"] if key.may_relay else []
        claimed += ["may pin"] if key.may_pin else []
        return ", ".join(claimed) + (f", as {key.agent}" if key.agent else "")

    @display(
        description="state", label={"active": "success", "revoked": "danger", "expired": "warning"}
    )
    def condition(self, key: ApiKey) -> str:
        """Return the key's state, in words."""
        if key.revoked_at is not None:
            return "revoked"
        is_expired = key.expires_at is not None and key.expires_at <= timezone.now()
        return "expired" if is_expired else "active"

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Return few fields for a new key and all for an existing one."""
        if obj is None:
            return [*KeyForm.Meta.fields]
        return [
            "name", "prefix_shown", "role", "ceiling", "may_relay", "may_pin", "agent",
            "condition", "created_at", "expires_at", "revoked_at",
            "last_used_at", "uses",
        ]  # fmt: skip

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Change nothing about a key but to revoke it."""
        return [] if obj is None else self.get_fields(request, obj)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Create the key; only the answer to this request has the token."""
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

        return self.confirm(
            request,
            rows.filter(revoked_at=None),
            question="Revoke {n:key}?",
            consequence="Whoever uses them is refused from the next request on. This cannot be "
            "undone; a new key can be made at any time.",
            button="Revoke",
            done="{n:key} revoked.",
            work=work,
        )
