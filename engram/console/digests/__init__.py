"""The daily digest of a workspace's open items, by mail to who wants it and by webhook."""
