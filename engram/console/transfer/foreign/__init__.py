"""Read the exports of other systems: statements, Markdown and conversations."""
