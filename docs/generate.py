"""Writes the pages of the site that follow from the code: `python -m docs.generate`, which `make docs` calls.

They go into docs/generated/, which git ignores: the guide to the configuration, a page for each folder of config/, by
the types in densevse/config; the README.md of each analysis; the docstrings of what docs/api.md names; the pages at the
top of the project; the tables of the lab notebook; the summary of the results; and the rows of each paper in the
tables of claims, which docs/results/ includes.
"""

import ast
import csv
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from densevse.config.analyses import settings_of_analyses
from densevse.config.config import config_type
from densevse.config.resolved import default_origin
from densevse.config.schema import choices
from docs.summary import CELLS, COLUMNS, summary_rows

ROOT = Path(__file__).parents[1]
GENERATED = Path(__file__).parent / "generated"
SHARED = "shared"
Schema = Mapping[str, Any]

BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "above {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "below {}",
}
KINDS = {
    "integer": "whole number",
    "number": "number",
    "string": "text",
    "boolean": "`true` or `false`",
    "null": "`null`",
    "object": "keys and values",
    "array": "list",
}
MERGED_WITH = {
    "Differences": "MethodEntry",
    "Variant": "MethodEntry",
    "GeneratorDifferences": "GeneratorEntry",
    "GeneratorVariant": "GeneratorEntry",
}
"""Parts whose keys are those of an entry -> the entry."""
ANALYSES = "densevse/analyses"
TOP = {"CONTRIBUTING.md": "contributing", "THIRD_PARTY.md": "third_party", "CHANGELOG.md": "changes"}
"""Pages at the top of the project -> their names in the site."""
PLACES = {
    "README.md": "index.md",
    "config/README.md": "generated/configuration/index.md",
    f"{ANALYSES}/README.md": "generated/analyses/index.md",
    **{
        page.relative_to(ROOT).as_posix(): f"generated/analyses/{page.parent.name}.md"
        for page in sorted((ROOT / ANALYSES).glob("*/README.md"))
    },
    **{name: f"generated/{page}.md" for name, page in TOP.items()},
}
"""Files outside docs/ -> the pages of the site that have their words."""
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")
NOTEBOOK = ROOT / "docs/lab_notebook.csv"
TOPICS = {
    "V": "vse",
    "H": "hm-lstm",
    "D": "defrag",
    "S": "sm-lstm",
    "C": "sco",
    "N": "sc-nlm",
    "W": "scenes",
    "A": "scan",
}
"""The letter of a row's number -> the heading of its table in docs/lab_notebook.md."""
CLAIMS = "_claims.md"
"""The last part of the names of the tables of claims in docs/tables/."""
PUBLIC = re.compile(r"^\| `(densevse[\w.]+)` \| `([\w.]+)` \|", re.MULTILINE)


def definition_names(schema: Schema) -> set[str]:
    """The definitions that a schema names directly."""
    return set(re.findall(r"#/\$defs/(\w+)", str(schema)))


class Guide:
    """The guide to the configuration: a page for each folder of config/, one of shared parts, and their index."""

    def __init__(self) -> None:
        schema = config_type().model_json_schema()
        self.definitions: dict[str, Schema] = schema["$defs"]
        self.keys: dict[str, Schema] = schema["properties"]
        self.choices = {choice.entry: choice for choice in choices()}
        self.options: dict[str, dict[str, Schema]] = {}
        for choice in self.choices.values():
            self.options[choice.entry] = {name: choice.types[name].model_json_schema() for name in sorted(choice.types)}
            for option in self.options[choice.entry].values():
                self.definitions |= option.get("$defs", {})
        self.analyses = [key for key in self.keys if key in settings_of_analyses()]
        self.folders = [key for key in self.keys if key not in self.analyses and definition_names(self.keys[key])]
        self.pages = {folder: self._reachable_definitions(self.keys[folder]) for folder in self.folders}
        self.pages["analyses"] = list(
            dict.fromkeys(name for key in self.analyses for name in self._key_definitions(key))
        )
        on_several = {name for names in self.pages.values() for name in names if self._count(name) > 1}
        self.pages = {page: [name for name in names if name not in on_several] for page, names in self.pages.items()}
        self.pages[SHARED] = sorted(on_several)
        self.page_of = {name: page for page, names in self.pages.items() for name in names}

    def _count(self, name: str) -> int:
        return sum(name in names for names in self.pages.values())

    def _key_definitions(self, key: str) -> list[str]:
        return self._reachable_definitions(self.keys[key])

    def _reachable_definitions(self, schema: Schema) -> list[str]:
        """The definitions that a schema leads to, those nearest to it first."""
        found: dict[str, None] = {}
        waiting = [schema]
        while waiting:
            for name in sorted(definition_names(waiting.pop(0)) - found.keys()):
                found[name] = None
                waiting += [self.definitions[name], *self.options.get(name, {}).values()]
        return list(found)

    def write(self, folder: Path) -> None:
        """Write all pages into a folder."""
        folder.mkdir(parents=True)
        for key in self.folders:
            text = f"# `{key}`\n\n{self._entries(key)}\n\n{self._definitions(key)}"
            (folder / f"{key}.md").write_text(text, encoding="utf-8")
        (folder / "analyses.md").write_text(self._analyses_page(), encoding="utf-8")
        intro = "# Shared parts\n\nParts of the configuration that stand in the entries of several folders.\n\n"
        (folder / f"{SHARED}.md").write_text(intro + self._definitions(SHARED), encoding="utf-8")
        (folder / "index.md").write_text(self._index(), encoding="utf-8")

    def _index(self) -> str:
        """The words of config/README.md, the keys without a folder, and the list of pages."""
        alone = {key: self.keys[key] for key in self.keys if key not in self.folders and key not in self.analyses}
        words = relocate_page(ROOT / "config/README.md", "generated/configuration")
        pages = "\n".join([*self.folders, "analyses", SHARED])
        return (
            f"{words}\n## Every key\n\nThe pages below list every key with its type, its default and its meaning. They "
            "are made from the types that check the configuration. These keys have no folder:\n\n"
            f"{self._table(alone, SHARED, '')}\n\n```{{toctree}}\n:maxdepth: 1\n\n{pages}\n```\n"
        )

    def _entries(self, key: str) -> str:
        """The entry of a folder in words, and the entries that come with the project."""
        files = sorted((ROOT / "config" / key).glob("*.yaml"))
        rows = [(file.stem, read_title(file)) for file in files]
        if any(title for _, title in rows):
            listed = table(("entry", "title"), [(f"`{name}`", title) for name, title in rows])
        else:
            listed = ", ".join(f"`{name}`" for name, _ in rows) + "."
        kinds = " or ".join(f"[{name}](#{name.lower()})" for name in sorted(definition_names(self.keys[key])))
        return (
            f"An entry of `{key}:` is a file `config/{key}/<entry>.yaml`, or stands below `{key}:` in a file of yours. "
            f"Its keys are those of {kinds}. These come with the project:\n\n{listed}"
        )

    def _analyses_page(self) -> str:
        lines = ["# Analyses\n\nEach analysis has a top-level key of its own.\n"]
        for key in self.analyses:
            values = self.definitions[next(iter(definition_names(self.keys[key])))]
            of = self._type(values, "analyses")
            lines.append(f"## `{key}`\n\n{escape_markdown(values.get('description', ''))}\n\nIts value: {of}.\n")
        own = [name for name in self.pages["analyses"] if "properties" in self.definitions[name]]
        return "\n".join(lines) + "\n" + "\n".join(self._definition(name, "analyses") for name in own)

    def _definitions(self, page: str) -> str:
        return "\n".join(self._definition(name, page) for name in self.pages[page])

    def _definition(self, name: str, page: str) -> str:
        """A part of an entry: its words, its keys, and what its options are."""
        schema = self.definitions[name]
        required = schema.get("required", ())
        keys = self._table(schema.get("properties", {}), page, name, required)
        return f"## {name}\n\n{escape_markdown(schema.get('description', ''))}\n\n{keys}\n{self._options(name, page)}"

    def _options(self, entry: str, page: str) -> str:
        """The keys of each type of an entry's options."""
        if entry not in self.options:
            return ""
        choice, lines = self.choices[entry], []
        for name, schema in self.options[entry].items():
            keys, kind = schema.get("properties", {}), choice.types[name]
            origins = {key: default_origin(kind, key) for key in keys} if hasattr(kind, "ORIGINS") else {}
            rows = self._table(keys, page, "", schema.get("required", ()), origins) if keys else "It has no keys.\n"
            words = escape_markdown(schema.get("description", ""))
            lines.append(f"### `{choice.field}` with `{choice.by}: {name}`\n\n{words}\n\n{rows}")
        return "\n" + "\n".join(lines)

    def _table(
        self,
        keys: Mapping[str, Schema],
        page: str,
        within: str,
        required: Any = (),
        origins: Mapping[str, str] | None = None,
    ) -> str:
        rows = []
        for key, schema in keys.items():
            default = "(needed)" if key in required else self._default(schema)
            row = [
                f"`{key}`",
                self._type(schema, page, self._option_type(within, key)),
                default,
                self.meaning(within, key, schema),
            ]
            rows.append([*row, origins[key]] if origins else row)
        head = ("key", "type", "default", "meaning", *(["origin of the default"] if origins else []))
        return table(head, rows)

    def _option_type(self, within: str, key: str) -> str:
        """The words for an option's type, which depends on another key; empty for other keys."""
        choice = self.choices.get(within)
        return f"by `{choice.by}`, below" if choice and choice.field == key else ""

    def meaning(self, within: str, key: str, schema: Schema) -> str:
        """A key's own description; else that of the key with which it is merged, or of its type."""
        if "description" in schema:
            return escape_markdown(schema["description"])
        if within in MERGED_WITH:
            return self.meaning(MERGED_WITH[within], key, self.definitions[MERGED_WITH[within]]["properties"][key])
        types = [self.definitions[name].get("description", "") for name in sorted(definition_names(schema))]
        return " Or: ".join(escape_markdown(text.split("\n\n")[0].replace("\n", " ")) for text in types if text)

    def _default(self, schema: Schema) -> str:
        if "default" not in schema:
            return ""
        return f"`{yaml.safe_dump(schema['default'], default_flow_style=True, width=1000).split(chr(10))[0]}`"

    def _type(self, schema: Schema, page: str, see: str = "") -> str:
        """A type in words, with links to the parts that it is made of."""
        if see:
            return see
        if "$ref" in schema:
            return self._link(schema["$ref"].removeprefix("#/$defs/"), page)
        if "const" in schema:
            return f"`{schema['const']}`"
        if "enum" in schema:
            return ", ".join(f"`{value}`" for value in schema["enum"])
        several = schema.get("anyOf") or schema.get("oneOf")
        if several:
            return ", or ".join(self._type(each, page) for each in several)
        if "prefixItems" in schema:
            return f"list of {len(schema['prefixItems'])}: {self._type(schema['prefixItems'][0], page)}"
        if isinstance(schema.get("items"), Mapping) and schema["items"]:
            return f"list of {self._type(schema['items'], page)}"
        if isinstance(schema.get("additionalProperties"), Mapping):
            return f"name → {self._type(schema['additionalProperties'], page)}"
        bounds = [words.format(schema[bound]) for bound, words in BOUNDS.items() if bound in schema]
        return " ".join([KINDS.get(schema.get("type", ""), "anything"), ", ".join(bounds)]).strip()

    def _link(self, name: str, page: str) -> str:
        there = self.page_of[name]
        definition = self.definitions[name]
        if "properties" not in definition:
            return self._type(definition, page)
        return f"[{name}]({'' if there == page else there + '.md'}#{name.lower()})"


def read_title(file: Path) -> str:
    """The title that a file of the configuration gives its entry, if it has one."""
    entry = yaml.safe_load(file.read_text(encoding="utf-8"))
    return escape_markdown(str(entry.get("title", ""))) if isinstance(entry, dict) else ""


def escape_markdown(text: str) -> str:
    """Words as Markdown that fits a cell of a table; code between backticks stays as it is."""
    parts = re.split(r"(`+[^`]*`+)", text)
    parts[::2] = [re.sub(r"([<>*_\[\]|#$])", r"\\\1", part) for part in parts[::2]]
    return "".join(part.replace("|", r"\|") if number % 2 else part for number, part in enumerate(parts))


def table(head: tuple[str, ...], rows: list[Any]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    cells = (" | ".join(" ".join(str(cell).split()) for cell in line) for line in lines)
    return "".join(f"| {line} |\n" for line in cells)


def relocate_page(file: Path, folder: str) -> str:
    """The text of a file outside docs/, with its links rewritten for a folder of the site."""
    return relocate_links(file.read_text(encoding="utf-8"), file.parent, ROOT / "docs" / folder)


def relocate_links(text: str, here: Path, there: Path) -> str:
    """A text of one folder, with its links rewritten for another; those to files that are pages lead to the pages."""

    def relocate_link(found: re.Match[str]) -> str:
        target = Path(os.path.normpath(here / found[1]))
        page = PLACES.get(os.path.relpath(target, ROOT))
        return f"]({os.path.relpath(ROOT / 'docs' / page if page else target, there)}"

    return LINK.sub(relocate_link, text)


def read_on() -> str:
    """The table of README.md that says where to read on."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return relocate_links(text.split("<!-- read -->")[1].split("<!-- end of read -->")[0], ROOT, ROOT / "docs")


def write_analyses(folder: Path) -> None:
    """Write the page of each analysis, its README.md, and their list."""
    folder.mkdir(parents=True)
    lines, names = [], []
    for page in sorted((ROOT / ANALYSES).glob("*/README.md")):
        text = relocate_page(page, "generated/analyses")
        (folder / f"{page.parent.name}.md").write_text(text, encoding="utf-8")
        package = (page.parent / "__init__.py").read_text(encoding="utf-8")
        about = escape_markdown(str(ast.get_docstring(ast.parse(package))))
        lines.append((f"[{text.splitlines()[0].removeprefix('# ')}]({page.parent.name}.md)", about))
        names.append(page.parent.name)
    listed = table(("analysis", "about"), lines)
    tree = "\n".join(["```{toctree}", ":hidden:", "", *names, "```"])
    words = relocate_page(ROOT / ANALYSES / "README.md", "generated/analyses")
    (folder / "index.md").write_text(f"{words}\n{listed}\n{tree}\n", encoding="utf-8")


def modules() -> Iterator[str]:
    """The page of the docstrings of what docs/api.md names, module by module."""
    yield "# API reference\n\nThe docstrings of the names in `docs/api.md`.\n"
    names = PUBLIC.findall((ROOT / "docs/api.md").read_text(encoding="utf-8"))
    for module in dict.fromkeys(module for module, _ in names):
        yield f"## `{module}`\n\n```{{eval-rst}}\n.. currentmodule:: {module}\n"
        for name in (name for where, name in names if where == module):
            kind = "method" if "." in name else "class" if name[0].isupper() else "function"
            yield f".. auto{kind}:: {name}\n"
        yield "```\n"


def paper_claims(title: str, text: str) -> str:
    """The rows of one paper in a table of claims, without the column that names it, and the notes about them."""
    lines, head, section = [], [], ""
    for line in text.splitlines():
        cells = CELLS.split(line)[1:-1]
        if line.startswith("## "):
            section, head = line.removeprefix("## "), []
        elif cells and len(head) < 2:
            head.append(table_line(cells[1:]))
        elif cells and cells[0].strip() == title:
            lines += [*([f"\n{section}\n", *head] if section else []), table_line(cells[1:])]
            section = ""
    notes = [line for line in text.splitlines() if line.startswith((f"- {title}, ", "- Config "))]
    return "\n".join([*lines, "", *notes, ""]) if lines else ""


def table_line(cells: list[str]) -> str:
    """A line of a table, without the blanks that pad its cells."""
    return "|".join(["", *(re.sub("---+", "---", f" {cell.strip()} ") for cell in cells), ""])


def claims() -> Iterator[tuple[str, str]]:
    """(table of claims/paper, its rows) of each table in docs/tables/ and paper with claims."""
    titles = {
        file.stem: read_title(file) for file in sorted((ROOT / "densevse/analyses/claims/entries").glob("*.yaml"))
    }
    for table_of_claims in sorted((ROOT / "docs/tables").glob(f"*{CLAIMS}")):
        text = table_of_claims.read_text(encoding="utf-8")
        for paper, title in titles.items():
            if rows := paper_claims(title, text):
                yield f"{table_of_claims.name.removesuffix(CLAIMS)}/{paper}", rows


def summary() -> str:
    """The table of five methods with which the results begin."""
    return table(("method", *COLUMNS.values(), "main reason"), [*summary_rows()])


def notebook() -> dict[str, list[dict[str, str]]]:
    """The rows of the lab notebook, by the letter of their table."""
    tables: dict[str, list[dict[str, str]]] = {}
    with NOTEBOOK.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            tables.setdefault(row["no"][0], []).append(row)
    return tables


def notebook_table(rows: list[dict[str, str]]) -> str:
    """A table of the lab notebook in Markdown."""
    cells = [list(rows[0]), ["---"] * len(rows[0]), *(row.values() for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


def main() -> None:
    """Write all generated pages anew."""
    shutil.rmtree(GENERATED, ignore_errors=True)
    Guide().write(GENERATED / "configuration")
    (GENERATED / "read_on.md").write_text(read_on(), encoding="utf-8")
    write_analyses(GENERATED / "analyses")
    (GENERATED / "modules.md").write_text("\n".join(modules()), encoding="utf-8")
    (GENERATED / "summary.md").write_text(summary(), encoding="utf-8")
    for place, rows in claims():
        part = GENERATED / "claims" / f"{place}.md"
        part.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(rows, encoding="utf-8")
    (GENERATED / "notebook").mkdir()
    for letter, rows in notebook().items():
        (GENERATED / f"notebook/{TOPICS[letter]}.md").write_text(notebook_table(rows), encoding="utf-8")
    for name, page in TOP.items():
        (GENERATED / f"{page}.md").write_text(relocate_page(ROOT / name, "generated"), encoding="utf-8")


if __name__ == "__main__":
    main()
