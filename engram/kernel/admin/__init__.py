"""The admin of workspaces, members, invitations, keys, accounts and history, a module each."""

from engram.kernel import sign_in_admin
from engram.kernel.admin import accounts, history, invitations, keys, members, workspaces

__all__ = [
    "accounts",
    "history",
    "invitations",
    "keys",
    "members",
    "sign_in_admin",
    "workspaces",
]
