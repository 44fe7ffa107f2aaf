"""Conversations of ChatGPT's and Claude's exports, as transcripts of one day each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

from engram.console.transfer.foreign.statements import iso_moment, unix_moment
from engram.console.transfer.foreign.streams import ForeignError
from memories.core.extraction.messages import storable, write_transcript
from memories.models.session import TRANSCRIPT_MAX_CHARS

LISTS = ("conversations",)
SPOKEN = {"text", "multimodal_text"}  # of ChatGPT's kinds of content; others are calls of tools
CLAUDE_SENDERS = {"human": "User", "user": "User", "assistant": "Assistant"}
CHATGPT_ROLES = {"user": "User", "assistant": "Assistant"}
ID_MAX_CHARS = 100


class Message(NamedTuple):
    """What somebody said, and when."""

    speaker: str  # User or Assistant
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Talk:
    """What was said in a conversation on one day (UTC), or a part of it; its key is its identity.

    The key depends on the text: a conversation that went on since the last export is another one.
    """

    key: str
    transcript: str
    started_at: datetime
    ended_at: datetime
    messages: int


def talks_of(item: Any, format_name: str) -> Iterator[Talk]:
    """Yield the transcripts of one conversation; raise `ForeignError` for what is none."""
    if not isinstance(item, Mapping):
        raise ForeignError("is no conversation")
    read = _chatgpt if format_name == "chatgpt" else _claude
    identity, messages = read(item)
    for _, said in groupby(messages, key=lambda message: message.at.date()):
        for part in _parts(list(said)):
            yield _talk(format_name, identity, part)


def _talk(format_name: str, identity: str, said: Sequence[Message]) -> Talk:
    transcript = write_transcript([(message.speaker, message.text) for message in said])
    times = [message.at for message in said]
    digest = hashlib.sha256(transcript.encode()).hexdigest()[:8]
    key = f"{format_name}:{identity}:{min(times):%Y-%m-%d}:{digest}"
    return Talk(key, transcript, min(times), max(times), len(said))


def _parts(said: list[Message]) -> Iterator[list[Message]]:
    """Split what is longer than a transcript may be, between messages, and long messages."""
    part: list[Message] = []
    size = 0
    limit = TRANSCRIPT_MAX_CHARS // 2  # labels and indentation come on top
    for message in said:
        text = storable(message.text)
        for start in range(0, len(text), limit):
            piece = message._replace(text=text[start : start + limit])
            if part and size + len(piece.text) > limit:
                yield part
                part, size = [], 0
            part.append(piece)
            size += len(piece.text)
    if part:
        yield part


def _chatgpt(item: Mapping[str, Any]) -> tuple[str, list[Message]]:
    """Read the branch that was shown last, from its root."""
    mapping = item.get("mapping")
    if not isinstance(mapping, Mapping):
        raise ForeignError("has no mapping: it is no conversation of ChatGPT")
    begun = _unix(item.get("create_time"))
    messages: list[Message] = []
    at = begun
    for node in _branch(mapping, item.get("current_node")):
        message = node.get("message")
        if not isinstance(message, Mapping):
            continue
        at = _unix(message.get("create_time")) or at
        said = _said_in_chatgpt(message)
        if said is not None:
            if at is None:
                raise ForeignError("has no time")
            messages.append(Message(*said, at))
    return _identity(item.get("conversation_id") or item.get("id"), item), messages


def _branch(mapping: Mapping[str, Any], last: Any) -> list[Mapping[str, Any]]:
    """Return the nodes from the root to the one that was shown last."""
    if not isinstance(last, str) or last not in mapping:
        leaves = (k for k, n in mapping.items() if isinstance(n, Mapping) and not n.get("children"))
        last = max(leaves, key=lambda k: _time_of(mapping[k]), default=None)
    found: list[Mapping[str, Any]] = []
    seen = set()
    while isinstance(last, str) and last not in seen:  # a damaged tree may be a circle
        node = mapping.get(last)
        if not isinstance(node, Mapping):
            break
        seen.add(last)
        found.append(node)
        last = node.get("parent")
    return found[::-1]


def _time_of(node: Mapping[str, Any]) -> float:
    message = node.get("message")
    at = message.get("create_time") if isinstance(message, Mapping) else None
    return float(at) if isinstance(at, int | float) else 0.0


def _said_in_chatgpt(message: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return speaker and text of a message that was shown; None for calls of tools and the like."""
    author, content = message.get("author"), message.get("content")
    details = message.get("metadata")
    if not isinstance(author, Mapping) or not isinstance(content, Mapping):
        return None
    is_hidden = isinstance(details, Mapping) and details.get("is_visually_hidden_from_conversation")
    speaker = CHATGPT_ROLES.get(str(author.get("role")))
    is_to_all = message.get("recipient") in (None, "all")
    if speaker is None or is_hidden or not is_to_all or content.get("content_type") not in SPOKEN:
        return None
    parts = content.get("parts")
    texts = [_part(part) for part in parts] if isinstance(parts, list) else []
    text = "\n".join(text for text in texts if text.strip()).strip()
    return (speaker, text) if text else None


def _part(part: Any) -> str:
    """Return the text of a part: plain, or the transcription of speech."""
    if isinstance(part, str):
        return part
    is_speech = isinstance(part, Mapping) and part.get("content_type") == "audio_transcription"
    return str(part.get("text") or "") if is_speech else ""


def _claude(item: Mapping[str, Any]) -> tuple[str, list[Message]]:
    said = item.get("chat_messages")
    if not isinstance(said, list):
        raise ForeignError("has no chat_messages: it is no conversation of Claude")
    messages: list[Message] = []
    for message in said:
        if not isinstance(message, Mapping):
            raise ForeignError("has a message that is none")
        speaker = CLAUDE_SENDERS.get(str(message.get("sender")))
        text = _said_in_claude(message)
        if speaker is None or not text:
            continue
        at = message.get("created_at") or item.get("created_at")
        if not isinstance(at, str):
            raise ForeignError("has no time")
        messages.append(Message(speaker, text, iso_moment(at)))
    return _identity(item.get("uuid"), item), messages


def _said_in_claude(message: Mapping[str, Any]) -> str:
    """Return the text that was shown: the blocks of text, in older exports `text`."""
    blocks = message.get("content")
    texts = [
        block["text"]
        for block in (blocks if isinstance(blocks, list) else [])
        if isinstance(block, Mapping)
        and block.get("type") == "text"
        and isinstance(block.get("text"), str)
    ]
    plain = message.get("text")
    text = "\n".join(texts) if texts else plain if isinstance(plain, str) else ""
    return text.strip()


def _identity(given: Any, item: Mapping[str, Any]) -> str:
    if isinstance(given, str) and 0 < len(given) <= ID_MAX_CHARS and given.isprintable():
        return given
    told = (item.get(name) for name in ("title", "name", "create_time", "created_at"))
    first = "\n".join(map(str, told))
    return hashlib.sha256(first.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _unix(value: Any) -> datetime | None:
    is_time = isinstance(value, int | float) and not isinstance(value, bool)
    return unix_moment(value) if is_time else None
