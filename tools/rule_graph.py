"""The graph of the rules, as the workflow draws it: `make rule-graph` writes docs/rule-graph.md with this.

An edge that follows from others is left out, as the drawing with all edges would be unreadable.
"""

import re
import subprocess
import sys
from pathlib import Path

TARGETS = (
    "all",
    "results/tables/scenes_arithmetic_vse_linear.md",
    "results/tables/flickr30k.md",
    "results/tables/flickr8k_human.md",
    "results/scenes/ballots/hm_lstm.html",
)
PATH = Path(__file__).parents[1] / "docs/rule-graph.md"
TEXT = """# The graph of the rules

This graph shows the rules of the workflow. An arrow from one rule to another means that the second
reads a file of the first. An arrow is left out if a longer path of arrows joins the two rules. For
example, `table` reads files of `read_dataset`, and the path leads over `train` and `retrieve`.

GitHub shows the graph as a drawing. The site and text editors show it as a list of arrows.
`make rule-graph` makes it. The graph has all rules that these targets need:

{targets}

```mermaid
flowchart TB
{edges}
```
"""


def graph_page() -> str:
    """The text of docs/rule-graph.md for the rules as they are."""
    command = [sys.executable, "-m", "snakemake", "--quiet", "all", "--rulegraph", "mermaid-js", "--", *TARGETS]
    graph = subprocess.run(command, cwd=PATH.parents[1], capture_output=True, text=True, check=True).stdout
    names = dict(re.findall(r"(id\d+)\[(\w+)\]", graph))
    feeds: dict[str, set[str]] = {name: set() for name in names.values()}
    for source, fed in re.findall(r"(id\d+) --> (id\d+)", graph):
        if source != fed:
            feeds[names[source]].add(names[fed])
    edges = [f"    {source} --> {fed}" for source in sorted(feeds) for fed in sorted(_direct_readers(source, feeds))]
    return TEXT.format(targets="\n".join(f"- `{target}`" for target in TARGETS), edges="\n".join(edges))


def _direct_readers(source: str, feeds: dict[str, set[str]]) -> set[str]:
    """The rules that a rule feeds, but for those that it also feeds through another one.

    Rules of one cycle are side by side: a way through one of them takes no arrow from another.
    """
    return {
        fed
        for fed in feeds[source]
        if not any(
            fed in _all_readers(other, feeds)
            and other not in _all_readers(fed, feeds)
            and source not in _all_readers(other, feeds)
            for other in feeds[source] - {fed}
        )
    }


def _all_readers(source: str, feeds: dict[str, set[str]]) -> set[str]:
    """Everything that a rule feeds, directly or through others."""
    found, waiting = set(), [source]
    while waiting:
        new = feeds[waiting.pop()] - found
        found |= new
        waiting += new
    return found


if __name__ == "__main__":
    PATH.write_text(graph_page(), encoding="utf-8")
