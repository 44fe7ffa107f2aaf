"""Checks of what is in the database's workspaces."""

from __future__ import annotations

from datetime import UTC, datetime

from django.conf import settings

from conflicts.services.detection import backlog
from engram.console.demo import ways_in
from engram.console.doctor.check import CheckResult
from engram.console.models import WebhookEndpoint
from engram.kernel.configuration import valid_settings
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.services.index.search_index import has_vector_index, width_in_use
from predictor.services.serving import breaker
from predictor.services.state import state_of


def detection() -> CheckResult:
    """Check that the detective could read every memory."""
    kept = {}
    for workspace in Workspace.objects.all():
        with in_workspace(workspace):
            if count := backlog.select_set_aside().count():
                kept[workspace.slug] = count
    if not kept:
        return CheckResult("detection", "ok", "no memory was set aside")
    detail = ", ".join(f"{count} set aside in {slug}" for slug, count in sorted(kept.items()))
    remedy = "see the runs that failed and the worker's log, then manage.py detect --workspace W"
    return CheckResult("detection", "warn", detail, remedy)


def stored_settings() -> CheckResult:
    """Check that every stored setting is one that this release takes."""
    ignored = {}
    for workspace in Workspace.objects.all():
        if names := workspace.settings.keys() - valid_settings(workspace.settings).keys():
            ignored[workspace.slug] = sorted(names)
    if not ignored:
        return CheckResult("settings", "ok", "all are valid")
    detail = ", ".join(f"{', '.join(names)} in {slug}" for slug, names in sorted(ignored.items()))
    remedy = "set them anew under Settings: the next change of any setting drops them"
    return CheckResult("settings", "warn", f"not valid, defaults hold: {detail}", remedy)


def webhooks() -> CheckResult:
    """Check that no webhook was disabled because nothing could be delivered."""
    disabled, enabled = {}, 0
    for workspace in Workspace.objects.all():
        with in_workspace(workspace):
            enabled += WebhookEndpoint.objects.filter(is_enabled=True).count()
            failed = WebhookEndpoint.objects.filter(is_enabled=False, failures__gt=0)
            if count := failed.count():
                disabled[workspace.slug] = count
    if not disabled:
        return CheckResult("webhooks", "ok", f"{enabled} enabled")
    detail = ", ".join(f"{count} disabled in {slug}" for slug, count in sorted(disabled.items()))
    remedy = "an admin sees the reason at Webhooks in the admin, and can enable them"
    return CheckResult("webhooks", "warn", f"{detail}: nothing could be delivered", remedy)


def vector_indexes() -> CheckResult:
    """Check that every model in use has a vector index."""
    missing = set()
    for workspace in Workspace.objects.all():
        width = width_in_use(workspace)
        if width is not None and not has_vector_index(workspace.embedding_model, width):
            missing.add(workspace.embedding_model)
    if not missing:
        return CheckResult("vectors", "ok", "an index for every model in use")
    detail = f"no index over the vectors of {', '.join(sorted(missing))}: large searches are slow"
    remedy = "start the worker, which makes it within a minute or two of work"
    return CheckResult("vectors", "warn", detail, remedy)


def demo() -> CheckResult:
    """Check that a production installation has no demo user and keys."""
    found = ways_in()
    if not settings.IS_PRODUCTION or not found:
        return CheckResult("demo", "ok", ", ".join(found) or "none")
    detail = f"this production can be entered by the demo: {', '.join(found)}"
    return CheckResult("demo", "fail", detail, "manage.py remove_demo")


def predictor() -> CheckResult:
    """Check that the learned ranking is not switched off in any workspace because of failures."""
    now = datetime.now(UTC)
    disabled, served = [], 0
    for workspace in Workspace.objects.all():
        with in_workspace(workspace):
            state = state_of()
        served += state.served is not None
        if breaker.is_open(state, now):
            disabled.append(workspace.slug)
    if not disabled:
        return CheckResult("predictor", "ok", f"{served} workspaces have a trained model")
    detail = f"scoring failed too often in {', '.join(sorted(disabled))}: the baseline serves"
    remedy = "see GET /analytics/errors?stage=predictor_score; it is tried again within an hour"
    return CheckResult("predictor", "warn", detail, f"{remedy}, or POST /predictor/enable")
