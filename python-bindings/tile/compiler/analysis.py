# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Questions about Python syntax trees."""

from __future__ import annotations

import ast


def _targets(node: ast.expr, names: dict):
    if isinstance(node, ast.Name):
        names.setdefault(node.id)
    elif isinstance(node, (ast.Tuple, ast.List)):
        for element in node.elts:
            _targets(element, names)
    elif isinstance(node, ast.Starred):
        _targets(node.value, names)


def _is_constexpr_annotation(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.split(".")[-1] == "constexpr"
    return (isinstance(node, ast.Name) and node.id == "constexpr") or (
        isinstance(node, ast.Attribute) and node.attr == "constexpr")


def assigned_names(statements) -> list[str]:
    """Names that the statements assign, in order; not the variables of inner loops, nor
    names that are annotated as constexpr."""
    names: dict[str, None] = {}
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    _targets(target, names)
            elif isinstance(node, ast.AugAssign):
                _targets(node.target, names)
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                if not _is_constexpr_annotation(node.annotation):
                    _targets(node.target, names)
            elif isinstance(node, ast.NamedExpr):
                _targets(node.target, names)
    return list(names)


def contains_return(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Return) for node in ast.walk(statement))


is_constexpr_annotation = _is_constexpr_annotation
