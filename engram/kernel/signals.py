"""Signals about workspaces and jobs, sent inside the writing transaction."""

from django.dispatch import Signal

# Settings of a workspace were changed. Arguments: workspace (as stored now), changed (by name, the
# values before and after), actor, now.
settings_changed = Signal()

# A job is about to fail for good. Arguments: job, now.
job_failing = Signal()
