"""The daily digest of a workspace's open questions, by mail to who wants it and by webhook."""
