"""Imports go one way: see the table."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).parent.parent.parent / "src"
OWN = "airflow_common_ai"
PARTS = {path.stem for path in (SOURCE / OWN).iterdir() if path.is_dir() or path.suffix == ".py"}
PARTS -= {"__init__", "__pycache__"}

MAY_IMPORT: dict[str, set[str]] = {
    "": set(),
    "get_provider_info": set(),
    "sanitizer": set(),
    "parse_warning": set(),
    "evidence": {"evidence"},
    "recordings": {"evidence", "recordings"},
    "classifier": {"classifier", "evidence"},
    "decision_model": {"classifier", "decision_model", "evidence"},
    "policies": {"classifier", "evidence", "get_provider_info", "policies", "sanitizer"},
    "evals": {"", "classifier", "evals", "evidence", "policies", "recordings", "sanitizer"},
    "cli": {"", "classifier", "cli", "evals", "evidence", "policies", "recordings", "sanitizer"},
}
"""Each part of the package, and the parts of the package that it may import; "" is the package itself."""

LIBRARIES: dict[str, set[str]] = {
    "": set(),
    "get_provider_info": set(),
    "sanitizer": set(),
    "parse_warning": {"airflow"},
    "evidence": set(),
    "recordings": set(),
    "classifier": set(),
    "decision_model": {"airflow", "pydantic_ai"},
    "policies": {"airflow", "pydantic"},
    "evals": {"airflow", "jinja2", "markupsafe", "matplotlib", "numpy", "pydantic", "rich", "scipy", "sklearn", "vcr"},
    "cli": {"rich", "typer"},
}
"""What a part may import of others while it is loaded, the standard library aside."""


class Import(NamedTuple):
    importer: str
    module: str
    is_at_load: bool
    """Outside of functions and of ``if TYPE_CHECKING``."""

    @property
    def part(self) -> str:
        return part_of(self.importer)

    @property
    def is_own(self) -> bool:
        return self.module.partition(".")[0] == OWN

    @property
    def is_standard_library(self) -> bool:
        return self.module.partition(".")[0] in sys.stdlib_module_names


def part_of(module: str) -> str:
    name = f"{module}..".split(".")[1]
    return name if name in PARTS else ""  # a name of the package itself, such as __version__


def imports_of(path: Path) -> Iterator[Import]:
    module = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    return _imports(ast.parse(path.read_text("utf-8")), module, is_at_load=True)


def _imports(tree: ast.AST, importer: str, *, is_at_load: bool) -> Iterator[Import]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(importer, alias.name, is_at_load)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{importer} imports from '.': write where that is"
            for alias in node.names:
                yield Import(importer, f"{node.module}.{alias.name}", is_at_load)
        else:
            yield from _imports(node, importer, is_at_load=is_at_load and not _is_run_later(node))


def _is_run_later(node: ast.AST) -> bool:
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


IMPORTS = [found for path in sorted(SOURCE.rglob("*.py")) for found in imports_of(path)]


def test_every_part_of_the_package_has_its_rows() -> None:
    assert MAY_IMPORT.keys() >= PARTS
    assert LIBRARIES.keys() >= PARTS


@pytest.mark.parametrize("part", MAY_IMPORT)
def test_imports_within_the_package_go_one_way(part: str) -> None:
    wrong = [
        found
        for found in IMPORTS
        if found.is_own and found.part == part and part_of(found.module) not in MAY_IMPORT[part]
    ]

    assert not wrong


@pytest.mark.parametrize("part", LIBRARIES)
def test_loading_a_part_loads_no_other_libraries_than_these(part: str) -> None:
    wrong = [
        found
        for found in IMPORTS
        if found.part == part
        and found.is_at_load
        and not found.is_own
        and not found.is_standard_library
        and found.module.partition(".")[0] not in LIBRARIES[part]
    ]

    assert not wrong


def test_evidence_never_imports_another_library_not_even_in_a_function_or_for_types() -> None:
    wrong = [
        found for found in IMPORTS if found.part == "evidence" and not found.is_own and not found.is_standard_library
    ]

    assert not wrong


def test_pydantic_is_loaded_by_the_one_module_that_is_a_model_only() -> None:
    loading = {found.importer for found in IMPORTS if found.is_at_load and found.module.startswith("pydantic.")}

    assert loading == {f"{OWN}.policies.error_classification"}


def test_models_and_the_common_ai_provider_are_only_imported_inside_functions_but_by_what_extends_them() -> None:
    heavy = ("pydantic_ai", "openai", "anthropic", "ollama", "airflow.providers.common.ai")

    loading = {found.importer for found in IMPORTS if found.is_at_load and found.module.startswith(heavy)}

    assert loading == {f"{OWN}.decision_model.model", f"{OWN}.decision_model.policy"}


def test_tiers_never_import_each_other() -> None:
    tiers = f"{OWN}.policies.tiers"

    of_tiers = [found for found in IMPORTS if found.importer.startswith(f"{tiers}.")]

    assert of_tiers
    assert not [found for found in of_tiers if f"{found.module}.".startswith(f"{tiers}.")]


def test_this_test_sees_imports_wherever_they_hide() -> None:
    program = ast.parse(
        "import a.b\n"
        "from c import d, e\n"
        "if TYPE_CHECKING:\n    import f\n"
        "try:\n    import g\nexcept ImportError:\n    pass\n"
        "class C:\n    import h\n    def m(self):\n        from i import j\n"
    )

    found = {(one.module, one.is_at_load) for one in _imports(program, "x", is_at_load=True)}

    assert found == {
        ("a.b", True),
        ("c.d", True),
        ("c.e", True),
        ("f", False),
        ("g", True),
        ("h", True),
        ("i.j", False),
    }
