"""Client of Engram, the memory service for AI agents."""

from engram_client import errors, types
from engram_client._async import AsyncEngram
from engram_client._attempts import Retry
from engram_client._calls import UNSET
from engram_client._sync import Engram
from engram_client._version import __version__
from engram_client.errors import EngramError, ProblemError
from engram_client.pages import AsyncPages, Pages

__all__ = [
    "UNSET",
    "AsyncEngram",
    "AsyncPages",
    "Engram",
    "EngramError",
    "Pages",
    "ProblemError",
    "Retry",
    "__version__",
    "errors",
    "types",
]
