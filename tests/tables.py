"""Tables in all their forms, and in Markdown as they are written for people."""

from densevse.report.results import Outputs


def outputs_in(folder, name="table"):
    """The files of a table in all its forms, in a folder."""
    return Outputs(*(str(folder / f"{name}.{ending}") for ending in ("md", "html", "tex", "csv", "parquet")))


def unaligned(markdown: str) -> str:
    """The text with one space around each cell of its tables, however wide their columns are."""
    return "\n".join(map(_line, markdown.splitlines()))


def _line(line: str) -> str:
    return f"| {' | '.join(cell.strip() for cell in line[1:-1].split('|'))} |" if line.startswith("|") else line
