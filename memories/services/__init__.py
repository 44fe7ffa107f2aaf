"""Services that write memories; nothing else writes them. One operation per module."""
