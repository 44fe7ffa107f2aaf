"""Signals about webhooks, sent inside the writing transaction."""

from django.dispatch import Signal

# A webhook was made, changed, disabled or deleted. Arguments: workspace_id, now.
webhooks_changed = Signal()
