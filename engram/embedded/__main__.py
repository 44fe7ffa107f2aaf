"""`python -m engram.embedded HOME SOCKET_FD` runs the keeper of a home."""

import sys

from engram.embedded.keeper import main

sys.exit(main())
