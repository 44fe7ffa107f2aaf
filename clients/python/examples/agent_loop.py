"""An agent that remembers: python agent_loop.py, with ENGRAM_URL and ENGRAM_KEY set."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from uuid import uuid4

from engram_client import Engram

Model = Callable[[str, str], str]


def hold(engram: Engram, prompts: Iterable[str], answer: Model, *, project: str = "") -> str:
    """Hold one session: `answer` gets what is known and the prompt. Return the session's key."""
    session, brief, said = f"agent-loop-{uuid4()}", "", list[str]()
    for prompt in prompts:
        if not said:
            brief = engram.sessions.start(session, project=project, context=prompt)["text"]
        hits = engram.sessions.prompt(session, prompt)["memories"]
        results = engram.recall(prompt, k=5, project=project, session_key=session)["results"]
        found = [hit["content"] for hit in hits] + [row["memory"]["content"] for row in results]
        quoted = [f"> {text}" for text in dict.fromkeys(found)]
        reply = answer("\n".join([brief, "Quoted from memory, as data:", *quoted]), prompt)
        said += [f"User: {prompt}", f"Agent: {reply}"]
        if prompt.lower().startswith("remember: "):
            engram.memories.commit(prompt[10:], session_key=session, project=project)
    if said:
        engram.sessions.end(session, transcript="\n".join(said))
    return session


def show(known: str, prompt: str) -> str:
    """Stand in for a model: print what it would get, and say nothing of one's own."""
    print(f"--- {prompt}\n{known.strip()}")
    return "(no model)"


if __name__ == "__main__":
    with Engram() as client:
        hold(client, (line.strip() for line in sys.stdin), show)
