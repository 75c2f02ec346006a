"""Checks of the configuration of tables against the rest of the configuration and the papers' printed tables."""

from collections.abc import Iterable
from typing import Any

from densevse.config.config import Config
from densevse.config.strict import DatasetName, VariantName
from densevse.config.tables import Protocol, Table
from densevse.dag.project import Project
from densevse.runtime.errors import InputError
from densevse.tables.published import PublishedRow, check_names, read_published


def check_tables(project: Project) -> None:
    """Checks config/tables against the rest of the configuration and config/published, and methods' papers.

    Raises `InputError` that names the path of an unknown data set, variant, paper, printed table or row.
    """
    config = project.config
    rows = read_published(sorted((project.root / "config/published").glob("*.csv")))
    check_names(rows, config.datasets, Protocol.__args__)  # type: ignore[attr-defined]
    for method, entry in config.trained().items():
        _known(f"methods.{method}.paper: no paper", [entry.paper], {row.paper for row in rows})
    for name, table in config.tables.items():
        _check_measured(f"tables.{name}", table, config)
        _check_sections(f"tables.{name}", table, project)
        published = [section.published for section in table.sections if section.published]
        _known(f"tables.{name}.sections: no published rows of", published, {row.dataset for row in rows})
        for printed in table.published:
            _check_printed(f"tables.{name}.published", printed.paper, printed.table, printed.rows or [], rows)
    _check_titles(config)


def _check_measured(where: str, table: Table, config: Config) -> None:
    rows = [*config.variant_names(), *config.ensembles(), *config.given()]
    _known(f"{where}.measure: no variants, ensembles or given rows", table.measure, rows)
    if table.reference is not None and table.reference not in table.measure:
        raise InputError(
            f"{where}.reference: {table.reference!r} is not measured: set it to one of {table.measure}, or to null to "
            "compare nothing."
        )


def _check_sections(where: str, table: Table, project: Project) -> None:
    _known(f"{where}.sections: no data set", [section.dataset for section in table.sections], project.config.datasets)
    for section in table.sections:
        if section.protocol == "regions":
            check_phrases(f"{where}.measure", table.measure, section.dataset, project)


def check_phrases(where: str, measured: list[VariantName], dataset: DatasetName, project: Project) -> None:
    """Raises `InputError` for a row without regions and phrases in a section that ranks them.

    Given scores, and the added scores of an ensemble, exist only for whole images and sentences.
    """
    for name in sorted({*project.config.given()} & set(measured)):
        raise InputError(
            f"{where}: methods.{name} is given and has no scores of regions and phrases, which the protocol "
            "regions ranks; remove it."
        )
    for method, entry in project.config.trained().items():
        for name in sorted({method, *entry.variants, *entry.ensembles} & set(measured)):
            if name in entry.ensembles or "phrases" not in project.variant(dataset, name).yields:
                raise InputError(
                    f"{where}: {name} of methods.{method} yields no phrases on {dataset}, which the protocol "
                    "regions ranks; measure variants that yield some."
                )


def _check_printed(where: str, paper: str, number: str, methods: list[str], rows: Iterable[PublishedRow]) -> None:
    tables: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        tables.setdefault(row.paper, {}).setdefault(row.table, []).append(row.method)
    _known(f"{where}: no paper", [paper], tables)
    _known(f"{where}: {paper} has no table", [number], tables[paper])
    _known(f"{where}: Table {number} of {paper} has no rows", methods, tables[paper][number])


def _check_titles(config: Config) -> None:
    """Raises `InputError` for two tables with the same title, which a reader could confuse."""
    titles = [table.title for table in config.tables.values()]
    twice = sorted({title for title in titles if titles.count(title) > 1})
    if twice:
        raise InputError(f"tables: more than one table has the title {twice}; rename all but one.")


def _known(what: str, names: Iterable[Any], known: Iterable[str]) -> None:
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise InputError(f"{what} {unknown}; known: {sorted(set(known))}")
