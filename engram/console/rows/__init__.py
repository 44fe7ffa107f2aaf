"""Rows of a workspace's tables as plain JSON, and back: for the demo's recording and archives."""
