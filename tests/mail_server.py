"""A local SMTP server that remembers the mails it was given.

with MailServer() as server:
    ... EMAIL_HOST=server.host, EMAIL_PORT=server.port ...
assert server.mails[0].text ...
"""

from __future__ import annotations

import socketserver
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Self

from tests.local_server import serve, stop


@dataclass(frozen=True)
class Mail:
    """A mail as it arrived."""

    sender: str
    to: list[str]
    message: EmailMessage

    @property
    def text(self) -> str:
        """Return the text of a mail of one part."""
        return str(self.message.get_content())


class MailServer:
    """Speaks as much of SMTP as is needed; `refusal` answers every recipient, if it is set."""

    def __init__(self) -> None:
        self.mails: list[Mail] = []
        self.refusal = ""
        owner = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                self._say("220 ready")
                sender, to = "", []
                while line := self.rfile.readline().decode().strip():
                    verb = line.upper()
                    if verb.startswith("MAIL"):
                        sender = line.partition("<")[2].partition(">")[0]
                    if verb.startswith("RCPT") and owner.refusal:
                        self._say(owner.refusal)
                        continue
                    if verb.startswith("RCPT"):
                        to.append(line.partition("<")[2].partition(">")[0])
                    if verb == "DATA":
                        self._say("354 go on")
                        owner.mails.append(Mail(sender, to, self._message()))
                        sender, to = "", []
                    self._say("221 bye" if verb == "QUIT" else "250 ok")
                    if verb == "QUIT":
                        return

            def _message(self) -> EmailMessage:
                lines = []
                while (line := self.rfile.readline()).rstrip(b"\r\n") != b".":
                    lines.append(line[1:] if line.startswith(b"..") else line)
                return message_from_bytes(b"".join(lines), policy=policy.default)

            def _say(self, text: str) -> None:
                self.wfile.write(f"{text}\r\n".encode())

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.host, self.port = "127.0.0.1", int(self._server.server_address[1])

    def __enter__(self) -> Self:
        self._thread = serve(self._server)
        return self

    def __exit__(self, *_: object) -> None:
        stop(self._server, self._thread)
