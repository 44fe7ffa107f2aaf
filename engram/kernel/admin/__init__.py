"""The admin of workspaces, members, invitations, keys and accounts, a module each."""

from engram.kernel import sign_in_admin
from engram.kernel.admin import accounts, invitations, keys, members, workspaces

__all__ = [
    "accounts",
    "invitations",
    "keys",
    "members",
    "sign_in_admin",
    "workspaces",
]
