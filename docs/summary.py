"""The first table and the first figure of docs/results/index.md: five methods, each compared with VSE.

`python -m docs.summary` draws the figure again; docs/generate.py writes the table whenever the site is built. Both take
each gain from the tables in docs/tables/ that docs/results/summary.yaml names.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import yaml

from densevse.report.gains import save_gains
from densevse.report.rendering import number, number_range

DOCS = Path(__file__).parent
PICTURE = DOCS / "pictures/flickr8k_gains.svg"
CELLS = re.compile(r"(?<!\\)\|")
COLUMNS = {
    "scenes": "scenes",
    "flickr8k": "Flickr8k",
    "scenes_effort": "scenes, equal effort",
    "flickr8k_effort": "Flickr8k, equal pairs",
}
PANELS = {
    "flickr8k": "As configured: means over five random splits (DeFrag: its own split, three seeds)",
    "flickr8k_effort": "Equal pairs: one random split, 3 seeds (HM-LSTM: no phrases; DeFrag: best region, no dropout)",
}


class CellGain(NamedTuple):
    """The gain of a method on VSE in rsum, and the ends of its 95% interval, if the table has one."""

    gain: float
    interval: tuple[float, float] | None = None


def methods() -> dict[str, dict[str, Any]]:
    """The entries of docs/results/summary.yaml, by method."""
    return dict(yaml.safe_load((DOCS / "results/summary.yaml").read_text(encoding="utf-8")))


def summary_rows() -> Iterator[tuple[str, ...]]:
    """The rows of the table, in Markdown: a method, its verdict and gain in each column, and the main reason."""
    for method, entry in methods().items():
        yield f"[{method}]({entry['page']}.md)", *(summary_cell(entry[column]) for column in COLUMNS), entry["reason"]


def summary_cell(cell: Mapping[str, Any]) -> str:
    """The verdict in bold, and the gain with its interval."""
    found = read_gain(cell)
    if found is None:
        return f"**{cell['verdict']}**"
    interval = number_range(found.interval, sign="+") or "no interval"
    return f"**{cell['verdict']}**: {number(found.gain, sign='+')} ({interval})"


def read_gain(cell: Mapping[str, Any]) -> CellGain | None:
    """The gain that a cell names; none where nothing was measured."""
    if "table" not in cell:
        return None
    rows = list(read_rows(cell["table"]))
    if "better" in cell:
        return CellGain(read_rsum(rows, cell["better"]) - read_rsum(rows, cell["worse"]))
    if "claim" in cell:
        row = next(row for row in rows if row.get("Claim", "").startswith(cell["claim"]))
        gain, interval = row["Gain"], row["95% of Gain"]
    else:
        row = next(row for row in rows if row.get("method") == cell["row"])
        gain = next(row[name] for name in row if name.startswith("gain on "))
        interval = row.get("95% of gain on VSE", "")
    middle, low, high = map(float, re.findall(r"[+-]\d+\.\d", f"{gain} {interval}"))
    return CellGain(-middle, (-high, -low)) if cell.get("turned") else CellGain(middle, (low, high))


def read_rows(table: str) -> Iterator[dict[str, str]]:
    """The rows of all tables of a file in docs/tables/, from headers to cells; a 95% is named after what it is of."""
    head: list[str] = []
    for line in (DOCS / f"tables/{table}.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in CELLS.split(line)[1:-1]]
        if not cells:
            head = []
        elif not head:
            head = [f"{name} of {cells[place - 1]}" if name == "95%" else name for place, name in enumerate(cells)]
        else:
            yield dict(zip(head, cells, strict=True))


def read_rsum(rows: Iterable[Mapping[str, str]], method: str) -> float:
    """The rsum of a method, in a table of methods or of claims."""
    cells = (("method", "rsum"), ("Better row", "Better value"), ("Worse row", "Worse value"))
    return next(float(row[rsum]) for row in rows for name, rsum in cells if row.get(name) == method)


def draw_summary(output: Path = PICTURE) -> None:
    """Draws the gains on Flickr8k that have an interval, with a panel for each of `PANELS`."""
    panels = []
    for column, title in PANELS.items():
        found = {name: read_gain(entry[column]) for name, entry in methods().items()}
        gains = [(name, gain.gain, *gain.interval) for name, gain in found.items() if gain and gain.interval]
        frame = pd.DataFrame(gains, columns=["method", "gain", "gain_low", "gain_high"])
        panels.append((title, frame.assign(seeds=3)))  # or as many splits; one seed would be named at the axis
    save_gains(panels, "Flickr8k: gains on VSE", "VSE", output)


if __name__ == "__main__":
    draw_summary()
