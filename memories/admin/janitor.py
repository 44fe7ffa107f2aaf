"""Admin pages of the janitor: runs, their actions, preview, run now, undo."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils import timezone
from unfold.decorators import action, display

from engram.kernel.models import Role
from engram.kernel.pages import staff_of
from engram.kernel.pagination import ById, page_of
from engram.kernel.refusals import RefusalError
from engram.kernel.staff import RoleAdmin, figure_column, moment_column
from memories.core.janitor import Reason
from memories.models import JanitorRun
from memories.services.janitor.run import preview, run
from memories.services.janitor.undo import undo_action, undo_run

PAGE = 50
LIST = "admin:memories_janitorrun_changelist"
REPORT = "admin:memories_janitorrun_change"
SPARED = {
    Reason.USER_STATED: "said by a user",
    Reason.PINNED: "pinned",
    Reason.CONSTRAINT: "a constraint",
    Reason.DISPUTED: "in an open conflict",
    Reason.AT_FLOOR: "as low as it gets",
}


@admin.register(JanitorRun)
class JanitorRunAdmin(RoleAdmin):
    """Runs of the janitor, with pages to run now and to undo."""

    roles = {"view": Role.READER, "act": Role.ADMIN}
    list_display = [
        "ran_at", "by", "examined", "demoted", "hidden", "only_reported", "condition",
    ]  # fmt: skip
    actions = ["undo"]
    empty_text = "The janitor runs weekly by itself. “Run now…” shows first what it would do today."
    actions_list = ["run_now"]
    ordering = ["-started_at", "-id"]

    ran_at = moment_column("started_at", "ran")
    hidden = figure_column("culled", "hidden", ",d")
    only_reported = figure_column("reported", "reported only", ",d")

    @display(description="by", ordering="actor_label")
    def by(self, done: JanitorRun) -> str:
        """Return who started the run."""
        return done.actor_label

    @display(description="state", label={"undone": "warning", "stands": "success"})
    def condition(self, done: JanitorRun) -> str:
        """Return whether the run was undone."""
        if done.undone_at is not None:
            return "undone"
        return "stands" if done.demoted or done.culled else "changed nothing"

    @action(
        description="Run now…", url_path="run-now", permissions=["act"], icon="play_arrow",
    )  # fmt: skip
    def run_now(self, request: HttpRequest) -> HttpResponse:
        """Show the preview of a run; run after confirmation."""
        staff = staff_of(request)
        now = timezone.now()
        parameters = request.POST if request.method == "POST" else request.GET
        default = "yes" if staff.workspace.config.janitor_culls else "no"
        may_cull = parameters.get("cull", default) == "yes"
        if request.POST.get("confirmed") == "yes":
            try:
                done = run(staff.workspace, actor=staff.actor, now=now, may_cull=may_cull)
            except RefusalError as error:
                messages.error(request, error.detail)
                return redirect(LIST)
            messages.success(request, f"{done.demoted} memories demoted, {done.culled} hidden.")
            return redirect(REPORT, done.pk)
        found = preview(staff.workspace, now=now, may_cull=may_cull, limit=PAGE)
        context = {
            **self.admin_site.each_context(request),
            "title": "Run the janitor now?",
            "opts": self.opts,
            "found": found,
            "rows": [(f, SPARED.get(f.verdict.reason, "")) for f in found.findings],
            "more": found.demoted + found.culled + found.reported - len(found.findings),
            "config": staff.workspace.config,
        }
        return TemplateResponse(request, "admin/memories/janitorrun/run_now.html", context)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Show the actions of one run; a POST undoes one of them."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        done = self.get_object(request, unquote(object_id))
        if done is None:
            raise Http404
        if request.method == "POST":
            return self._undo_one(request, done)
        actions = done.actions.select_related("memory")
        page = page_of(actions, request, pages=ById, ordering=("memory_id",))
        context = {
            **self.admin_site.each_context(request),
            "title": "Janitor's run",
            "opts": self.opts,
            "run": done,
            "page": page,
            "may_act": self.has_act_permission(request),
            "may_undo": done.undone_at is None and done.actions.filter(undone_at=None).exists(),
        }
        return TemplateResponse(request, "admin/memories/janitorrun/report.html", context)

    def _undo_one(self, request: HttpRequest, done: JanitorRun) -> HttpResponse:
        if not self.has_act_permission(request):
            raise PermissionDenied
        try:
            action = done.actions.filter(pk=request.POST.get("undo", "")).first()
        except ValidationError:
            action = None
        if action is None:
            raise Http404
        staff = staff_of(request)
        try:
            undo_action(staff.workspace, action.pk, actor=staff.actor, now=timezone.now())
        except RefusalError as error:
            messages.error(request, error.detail)
        else:
            messages.success(request, "The memory is restored to its state before the run.")
        return redirect(REPORT, done.pk)

    @action(description="Undo", permissions=["act"])
    def undo(self, request: HttpRequest, rows: QuerySet[JanitorRun]) -> HttpResponse | None:
        """Undo the selected runs."""
        staff = staff_of(request)

        def work(chosen: QuerySet[JanitorRun]) -> int:
            return self.one_by_one(
                request,
                chosen.order_by(
                    "-started_at", "-id"
                ),  # the latest first: runs are undone in reverse order
                lambda done: undo_run(
                    staff.workspace, done.pk, actor=staff.actor, now=timezone.now()
                ),
            )

        return self.confirm(
            request,
            rows.filter(undone_at=None),
            question="Undo {n} runs of the janitor?",
            consequence="Every memory that they demoted gets its weight back, what they hid comes"
            " back, and the janitor leaves these memories alone until their days are over again."
            " A run is undone whole, or not at all when a memory has changed since.",
            button="Undo",
            done="{n} runs undone.",
            work=work,
        )
