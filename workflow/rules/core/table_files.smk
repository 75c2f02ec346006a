# The files of a table, as outputs of the rules that write one.


def table_pages(path, caption, category="Tables", **labels):
    """A table's three pages, at a path without ending; the report shows the HTML, with these labels."""
    page = report(f"{path}.html", caption=caption, category=category, labels=labels)
    return {"markdown": f"{path}.md", "html": page, "latex": f"{path}.tex"}


def table_files(path, caption, category="Tables", **labels):
    """A table's five files: its pages and its rows, as CSV and as Parquet."""
    pages = table_pages(path, caption, category, **labels)
    return {**pages, "csv": f"{path}.csv", "parquet": f"{path}.parquet"}
