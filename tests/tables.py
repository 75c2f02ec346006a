"""Tables in Markdown, as they are written for people."""


def unaligned(markdown: str) -> str:
    """The text with one space around each cell of its tables, however wide their columns are."""
    return "\n".join(map(_line, markdown.splitlines()))


def _line(line: str) -> str:
    return f"| {' | '.join(cell.strip() for cell in line[1:-1].split('|'))} |" if line.startswith("|") else line
