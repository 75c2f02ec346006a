"""The demo's table, which `make demo` prints, and the README with it and the picture, which `make readme` writes."""

import re
import sys
from pathlib import Path

import cv2
import pandas as pd

from densevse.report.rendering import Sheet, TableColumn
from densevse.runtime.exact import why_not_exact

ROOT = Path(__file__).parents[1]
README, PICTURE = ROOT / "README.md", ROOT / "docs/pictures/demo.png"
LARGEST = 200_000  # bytes
COLUMNS = {
    "method": "method",
    **{f"i2t_r{k}": f"i2t R@{k}" for k in (1, 5, 10)},
    **{f"t2i_r{k}": f"t2i R@{k}" for k in (1, 5, 10)},
    "rsum": "rsum",
}
MARKED = re.compile(r"(<!-- table -->\n).*(<!-- end of table -->)", re.DOTALL)


def table(results: Path) -> str:
    """The measured rows of the demo's table, as Markdown."""
    rows = pd.read_csv(results / "tables/scenes.csv")
    shown = rows[rows["kind"] == "measured"][list(COLUMNS)]
    cells = [[name, *(f"{metric:.1f}" for metric in metrics)] for name, *metrics in shown.values.tolist()]
    columns = tuple(TableColumn(head, number=key != "method") for key, head in COLUMNS.items())
    return "\n".join(Sheet("", columns, cells).markdown()).rstrip()


def picture(file: Path) -> bytes:
    """A picture in the largest size that 200 kB hold, as PNG of 256 colours at most."""
    pixels = cv2.imread(str(file))
    while len(found := cv2.imencode(".png", pixels // 8 * 8, [cv2.IMWRITE_PNG_COMPRESSION, 9])[1].tobytes()) > LARGEST:
        pixels = cv2.resize(pixels, None, fx=0.9, fy=0.9, interpolation=cv2.INTER_AREA)
    return found


def write_readme(results: Path) -> None:
    """Writes the README's table and its picture from the results of the demo."""
    text = README.read_text(encoding="utf-8")
    README.write_text(MARKED.sub(rf"\1{table(results)}\n\2", text), encoding="utf-8")
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_bytes(picture(results / "figures/scenes/hm_lstm/correspondences.png"))


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
