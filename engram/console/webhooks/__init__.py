"""Webhooks: chosen events of a workspace, signed and sent to addresses until they arrive."""
