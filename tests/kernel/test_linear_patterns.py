"""Every compiled pattern takes time in proportion to the text, whatever the text is.

The patterns are collected, not listed: all that hang on a module of the product, in whatever
container. Each is fed runs of characters, and texts made from the pattern itself: what stands
before each of its unbounded repetitions, then what that repetition takes, over and over.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import re._constants as tree  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

from django.contrib import admin
from django.urls import URLPattern, URLResolver, get_resolver

from tests.growth import FACTOR, MOST_GROWTH, growth

PACKAGES = ("memories", "conflicts", "predictor", "engram")
ROOT = Path(__file__).resolve().parents[2]
LENGTH = 500
# Runs of one class of characters, and of mixes that tokens and sentences are made of.
CHARACTERS = " \n\t.aA1,-'\"()[]_/:;!?#@+=*<%é世\u200b\x00"
MIXES = ("a ", "A ", "1 ", "a. ", "a.", "1.", "a,", "a, ", "1,", "111,", "a-", "a_", "a/", "a:",
         "a@", "a'", "ab", "aA", "a1", "1a", ". ", " .", "- ", "\n ", "a\n", "a;", "(a", "a)",
         "\"a", "a\" ", "a and ", "--", "://", "世 ")  # fmt: skip
_IMPORTS = re.compile(r"^(?:import re|from re import .*)$", re.MULTILINE)
END = "\x00"  # what hardly any pattern takes, so that matches fail late


def modules() -> Iterator[ModuleType]:
    """Every module of the product."""
    for package in PACKAGES:
        root = importlib.import_module(package)
        yield root
        for found in pkgutil.walk_packages(root.__path__, f"{package}."):
            if found.name == "engram.asgi":  # starts what a web process runs; has no pattern
                continue
            if not found.name.endswith("__main__"):
                yield importlib.import_module(found.name)


def patterns_in(thing: object, seen: set[int]) -> Iterator[re.Pattern[Any]]:
    """Every compiled pattern that hangs on a thing."""
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, re.Pattern):
        yield thing
    elif isinstance(thing, dict):
        for part in (*thing.keys(), *thing.values()):
            yield from patterns_in(part, seen)
    elif isinstance(thing, list | tuple | set | frozenset):
        for part in thing:
            yield from patterns_in(part, seen)
    elif type(thing).__module__.split(".")[0] in PACKAGES or (
        isinstance(thing, type) and thing.__module__.split(".")[0] in PACKAGES
    ):
        for part in list(getattr(thing, "__dict__", {}).values()):
            yield from patterns_in(part, seen)


@lru_cache(maxsize=1)
def collected() -> dict[str, re.Pattern[str]]:
    """Patterns of text by where they were found first."""
    found: dict[str, re.Pattern[str]] = {}
    seen: set[int] = set()
    known: set[tuple[str, int]] = set()
    for module in modules():
        for name, thing in vars(module).items():
            for number, pattern in enumerate(patterns_in(thing, seen)):
                kind = (pattern.pattern, pattern.flags)
                if isinstance(pattern.pattern, str) and kind not in known:
                    known.add(kind)
                    found[f"{module.__name__}.{name}.{number}"] = pattern
    for number, pattern in enumerate(routes(get_resolver())):
        if (pattern.pattern, pattern.flags) not in known:
            known.add((pattern.pattern, pattern.flags))
            found[f"route.{number}"] = pattern
    return found


def routes(resolver: URLResolver) -> Iterator[re.Pattern[str]]:
    """Patterns that addresses are matched with, without those of Django's admin."""
    for one in resolver.url_patterns:
        if isinstance(one, URLResolver) and one.app_name == "admin":
            continue
        yield re.compile(one.pattern.regex.pattern)
        if not isinstance(one, URLPattern):
            yield from routes(one)


def texts_of(pattern: re.Pattern[str]) -> Iterator[tuple[str, str, str]]:
    """(beginning, what is repeated, end) of texts that are hard for a pattern."""
    for run in (*CHARACTERS, *MIXES):
        yield "", run, END
    parsed = parser.parse(pattern.pattern, pattern.flags)
    for before, body in {pump for branch in (0, -1) for pump in pumps(parsed, "", branch)}:
        yield before, body, END
        yield "", before + body, "\n" + END


def pumps(items: Iterable[tuple[Any, Any]], before: str, branch: int) -> Iterator[tuple[str, str]]:
    """(sample of what stands before, sample of what is repeated) for unbounded repetitions.

    Of alternatives that stand before, the one at the place `branch` is taken.
    """
    for op, value in items:
        for inner in parts_of(op, value):
            yield from pumps(inner, before, branch)
        if op in (tree.MAX_REPEAT, tree.MIN_REPEAT, tree.POSSESSIVE_REPEAT):
            _, most, repeated = value
            if most is tree.MAXREPEAT:
                yield from ((before, body) for body in bodies(repeated, branch))
        before += sample([(op, value)], branch)


def parts_of(op: Any, value: Any) -> list[Any]:
    """The sequences inside a node of a parsed pattern."""
    if op is tree.BRANCH:
        return list(value[1])
    if op in (tree.MAX_REPEAT, tree.MIN_REPEAT, tree.POSSESSIVE_REPEAT):
        return [value[2]]
    if op is tree.SUBPATTERN:
        return [value[3]]
    if op is tree.ATOMIC_GROUP:
        return [value]
    if op in (tree.ASSERT, tree.ASSERT_NOT):
        return [value[1]]
    return []


def bodies(repeated: Any, branch: int) -> list[str]:
    """Samples of what a repetition takes: a few characters of a class, or the whole."""
    if len(repeated) == 1 and (taken := taken_by(*repeated[0])):
        return taken[:3]
    return [body] if (body := sample(repeated, branch)) else []


def sample(items: Iterable[tuple[Any, Any]], branch: int) -> str:
    """A short text that a sequence of nodes takes, roughly: assertions are not looked at."""
    text = ""
    for op, value in items:
        if taken := taken_by(op, value):
            text += taken[0]
        elif op in (tree.MAX_REPEAT, tree.MIN_REPEAT, tree.POSSESSIVE_REPEAT):
            text += sample(value[2], branch) * value[0]
        elif op is tree.BRANCH:
            text += sample(value[1][branch], branch)
        elif inner := parts_of(op, value) if op not in (tree.ASSERT, tree.ASSERT_NOT) else []:
            text += sample(inner[0], branch)
    return text


def taken_by(op: Any, value: Any) -> list[str]:
    """Characters that a node for one character takes."""
    if op is tree.LITERAL:
        return [chr(value)]
    if op is tree.NOT_LITERAL:
        return [one for one in CHARACTERS if one != chr(value)]
    if op is tree.ANY:
        return list("a .")
    if op is not tree.IN:
        return []
    is_negated = value[0][0] is tree.NEGATE
    chosen = [one for one in CHARACTERS if any(map(is_in(one), value)) != is_negated]
    first = [chr(part[1][0] if part[0] is tree.RANGE else part[1]) for part in value
             if part[0] in (tree.RANGE, tree.LITERAL)]  # fmt: skip
    return chosen if is_negated else chosen or first


def is_in(character: str) -> Any:
    """Whether a member of a class takes a character."""

    def takes(member: tuple[Any, Any]) -> bool:
        op, value = member
        if op is tree.LITERAL:
            return chr(value) == character
        if op is tree.RANGE:
            return value[0] <= ord(character) <= value[1]
        category = str(value)
        is_of = (
            character.isspace() if "SPACE" in category
            else character.isdigit() if "DIGIT" in category
            else character.isalnum() or character == "_"
        )  # fmt: skip
        return op is tree.CATEGORY and is_of != ("NOT" in category)

    return takes


def text_of(before: str, body: str, end: str, length: int) -> str:
    """A text of about a length."""
    return before + body * (length // len(body)) + end


def slow_texts(
    pattern: re.Pattern[str], *, is_matched_fully: bool = False
) -> Iterator[tuple[str, str, str, str, float]]:
    """Where a pattern takes more time than in proportion: how it was used, the text, the growth."""
    # `search` begins as `finditer` does, which `sub` runs to the end.
    uses: dict[str, Callable[[str], object]] = {"sub": lambda text: pattern.sub("", text)}
    if is_matched_fully:
        uses["fullmatch"] = pattern.fullmatch
    for before, body, end in texts_of(pattern):
        for use, function in uses.items():
            grown = growth(partial(text_of, before, body, end), function, LENGTH)
            if grown > MOST_GROWTH:
                yield use, before, body, end, grown


def test_patterns_are_found_wherever_they_are_kept() -> None:
    class Holder:
        kept = {"name": (re.compile("a"), [re.compile("b")])}

    Holder.__module__ = "memories.core.anything"
    assert {one.pattern for one in patterns_in(Holder, set())} == {"a", "b"}
    known = {(pattern.pattern, pattern.flags) for pattern in collected().values()}
    for path, parsed in uses_of_patterns().items():
        if any(
            isinstance(node, ast.Attribute) and node.attr == "compile" for node in ast.walk(parsed)
        ):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            imported = {
                alias.asname or alias.name
                for node in ast.walk(parsed)
                if isinstance(node, ast.ImportFrom)
                for alias in node.names
            }
            own = {
                k: v for k, v in vars(importlib.import_module(name)).items() if k not in imported
            }
            kept = {(p.pattern, p.flags) for v in own.values() for p in patterns_in(v, set())}
            assert kept & known, f"no pattern of {name} was collected"


def test_a_quadratic_pattern_is_recognised() -> None:
    for pattern in (r"\s+x", r"[.!?]+\s", r"from\s+[^,]{2,50}?\s+the", r"x(?=.*y)", r"(?:a|a)*b",
                    r"when.*?(?:[,.]|$)"):  # fmt: skip
        # Once is enough: a moment in which the machine did something else hides it.
        assert any(next(slow_texts(re.compile(pattern)), None) for _ in range(5)), pattern
    for pattern in (r"(?<!\s)\s++x", r"a{1,30}b", r"\w+"):
        assert not list(slow_texts(re.compile(pattern))), pattern


def test_every_pattern_takes_time_in_proportion_to_the_text() -> None:
    slow = {}
    fully = names_matched_fully()
    for name, pattern in collected().items():
        is_matched_fully = name.split(".")[-2] in fully
        if found := next(slow_texts(pattern, is_matched_fully=is_matched_fully), None):
            use, before, body, end, grown = found
            slow[name] = f"{use} of {before!r} + {body!r} * n + {end!r}: {grown:.0f}"
    told = "\n".join(f"{name}: {what}" for name, what in slow.items())
    assert not slow, (
        f"{FACTOR} times the text takes more than {MOST_GROWTH:.0f} times as long:\n{told}"
    )


def names_matched_fully() -> set[str]:
    """Names on which `fullmatch` is called: it looks for other ways where a search is content."""
    return {
        node.value.id
        for parsed in uses_of_patterns().values()
        for node in ast.walk(parsed)
        if isinstance(node, ast.Attribute)
        and node.attr == "fullmatch"
        and isinstance(node.value, ast.Name)
    }


@lru_cache(maxsize=1)
def uses_of_patterns() -> dict[Path, ast.Module]:
    """The sources that work with patterns, parsed."""
    paths = (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))
    texts = {path: path.read_text() for path in paths}
    return {path: ast.parse(text) for path, text in texts.items() if _IMPORTS.search(text)}


def test_addresses_of_the_admin_are_matched_in_proportion_to_their_length() -> None:
    """As Django matches them: a search for its last route would be quadratic in a long line."""
    slow = []
    for route in admin.site.urls[0]:
        for before, body, end in (("", "a", "\nx"), ("", "a/", "\nx"), ("", "\n", "x")):
            make = partial(text_of, before, body, end)
            grown = growth(make, route.pattern.match, 16_000)
            if grown > MOST_GROWTH:
                slow.append(f"{route.pattern}: {grown:.0f}")
    assert not slow


def test_patterns_are_compiled_where_they_can_be_collected() -> None:
    """No `re.search("…", …)` and no pattern that is made within a function."""
    wrong = []
    for path, parsed in uses_of_patterns().items():
        within = {
            id(inner)
            for function in ast.walk(parsed)
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            for inner in ast.walk(function)
        }
        for node in ast.walk(parsed):
            if isinstance(node, ast.ImportFrom) and node.module == "re":
                wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}: from re import")
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if not isinstance(node.func.value, ast.Name) or node.func.value.id != "re":
                continue
            is_compiled = node.func.attr == "compile" and id(node) not in within
            if not is_compiled and node.func.attr != "escape":
                wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}: re.{node.func.attr}")
    assert not wrong
