"""Signals about workspaces, sent inside the writing transaction."""

from django.dispatch import Signal

# Settings of a workspace were changed. Arguments: workspace (as stored now), changed (by name, the
# values before and after), actor, now.
settings_changed = Signal()
