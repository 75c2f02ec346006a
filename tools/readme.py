"""The demo's table, which `make demo` prints, and what `make readme` copies from its results into pages."""

import re
import shutil
import sys
from pathlib import Path

import cv2
import pandas as pd

from densevse.report.rendering import Sheet, TableColumn
from densevse.runtime.exact import why_not_exact

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PICTURES = {"one_query.png": "one_query.png", "correspondences.png": "hm_lstm/correspondences.png"}
"""Pictures in docs/pictures/ -> the demo's."""
LARGEST = 200_000  # bytes
COLUMNS = {
    "method": "method",
    **{f"i2t_r{k}": f"i2t R@{k}" for k in (1, 5, 10)},
    **{f"t2i_r{k}": f"t2i R@{k}" for k in (1, 5, 10)},
    "rsum": "rsum",
}
SALIENCY = "scenes/saliency/sm_lstm/seed0/round0/test"
SHARES = {
    "share": "in the boxes",
    "chance": "of a uniform map",
    "blob": "of a blob in the centre",
    "over_chance": "more than the uniform map",
    "over_blob": "more than the blob",
}
MARKED = re.compile(r"(<!-- table -->\n).*(<!-- end of table -->)", re.DOTALL)


def table(results: Path) -> str:
    """The measured rows of the demo's table, as Markdown."""
    rows = pd.read_csv(results / "tables/scenes.csv")
    shown = rows[rows["kind"] == "measured"][list(COLUMNS)]
    cells = [[name, *(f"{metric:.1f}" for metric in metrics)] for name, *metrics in shown.values.tolist()]
    columns = tuple(TableColumn(head, number=key != "method") for key, head in COLUMNS.items())
    return "\n".join(Sheet("", columns, cells).markdown()).rstrip()


def saliency(results: Path) -> str:
    """How much of sm-LSTM's attention lies in the true boxes of its words, in percent, as a page."""
    rows = pd.read_parquet(results / f"{SALIENCY}_score.parquet")
    cells = [[str(row["step"] or "all"), *(_percent(row, key) for key in SHARES)] for row in rows.to_dict("records")]
    columns = tuple(TableColumn(head) for head in ("step", *SHARES.values()))
    return "\n".join(["# Scenes: saliency of sm-LSTM", "", *Sheet("", columns, cells).markdown()])


def _percent(row: dict[str, float], key: str) -> str:
    ends = f" ({100 * row[f'{key}_low']:+.1f} to {100 * row[f'{key}_high']:+.1f})" if f"{key}_low" in row else ""
    return f"{100 * row[key]:{'+' if ends else ''}.1f}{ends}"


def picture(file: Path) -> bytes:
    """A picture in the largest size that 200 kB hold, as PNG of 256 colours at most."""
    pixels = cv2.imread(str(file))
    while len(found := cv2.imencode(".png", pixels // 8 * 8, [cv2.IMWRITE_PNG_COMPRESSION, 9])[1].tobytes()) > LARGEST:
        pixels = cv2.resize(pixels, None, fx=0.9, fy=0.9, interpolation=cv2.INTER_AREA)
    return found


def write_readme(results: Path) -> None:
    """Writes the README's table, pictures of scenes, and how often regions and attention are right, from the demo."""
    text = README.read_text(encoding="utf-8")
    README.write_text(MARKED.sub(rf"\1{table(results)}\n\2", text), encoding="utf-8")
    for name, file in PICTURES.items():
        (ROOT / "docs/pictures" / name).write_bytes(picture(results / "figures/scenes" / file))
    (ROOT / "docs/tables/scenes_saliency.md").write_text(saliency(results), encoding="utf-8")
    shutil.copy2(results / "tables/scenes_rounds.md", ROOT / "docs/tables")


def main(task: str, results: Path) -> None:
    """Prints the demo's table, and why it is not exact here (`print`), or writes the README (`write`)."""
    if task == "print":
        print(table(results))
        if reason := why_not_exact("auto"):
            print(f"Not exact here: {reason}.")
    else:
        write_readme(results)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
