"""Export whole workspaces into archives, and import them: see docs/operators.md."""
