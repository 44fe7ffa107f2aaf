"""Imports go one way, late ones and a package's own modules included."""

from __future__ import annotations

import grimp

PACKAGES = ("engram", "memories", "conflicts", "predictor")


def test_no_module_imports_itself_through_others() -> None:
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    left = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    while free := {name for name, imported in left.items() if not imported & left.keys()}:
        left = {name: imported for name, imported in left.items() if name not in free}
    assert len(graph.modules) > 500  # what was looked at
    assert not {name: sorted(imported & left.keys()) for name, imported in left.items()}
