"""LaTeX of tables: the contents of cells, bold cells, and that no character of a name is read as a command."""

import re
import shutil
import subprocess

import pytest

from densevse.report.rendering import SPECIAL, Document, Sheet, TableColumn, as_latex

TRICKY = r"A & B_1: 5% of $x$ #3 {a} ~b ^c \d <e> |f| ± -2 to -1, x-1"
COLUMNS = (
    TableColumn("Method", number=False),
    TableColumn("R@1", "i2t", best="highest"),
    TableColumn("Med r", "i2t", best="lowest"),
    TableColumn("±"),
    TableColumn("Seeds"),
    TableColumn("Variant", number=False, in_latex=False),
)
ROWS = [
    ["VSE", "9.8", "1,012", "", "1", "vse"],
    [TRICKY, "10.2", "12", "", "1", "vsepp"],
    ["Order", "10.2", "", "", "1", "order"],
]
INTERVALS = Sheet("95% intervals", COLUMNS[:2], [["VSE", "9.1 to 10.4"], ["Order", "9.9 to 10.6"]], intervals=True)
DOCUMENT = Document(
    "A & B",
    [Sheet("A & B: test_split", COLUMNS, ROWS), INTERVALS],
    ["100% of A_1."],
    [Sheet("settings", (TableColumn("Setting", number=False),), [["batch_size"]])],
)


def lines(latex, start, end):
    """The lines between two others, of the first such part."""
    found = latex.splitlines()
    first = found.index(start) + 1
    return found[first : found.index(end, first)]


def test_a_sheet_is_a_booktabs_table_with_a_line_for_each_row():
    latex = DOCUMENT.latex()
    assert r"\caption{A \& B: test\_split}" in latex
    assert r"\begin{tabular}{lrrr}" in latex
    assert lines(latex, r"\toprule", r"\midrule") == [
        r"\multicolumn{1}{c}{} & \multicolumn{2}{c}{i2t} & \multicolumn{1}{c}{} \\",
        r"\cmidrule(lr){2-3}",
        r"Method & R@1 & Med r & Seeds \\",
    ]
    body = lines(latex, r"\midrule", r"\bottomrule")
    assert [line.count(" & ") for line in body] == [3, 3, 3]
    assert all(line.endswith(r" \\") for line in body)


def test_code_is_in_typewriter_type_and_no_backtick_becomes_a_quotation_mark():
    assert as_latex("`densevse show a_b` says `x`") == r"\texttt{densevse show a\_b} says \texttt{x}"
    assert as_latex("a ` alone") == r"a \textasciigrave{} alone"


def test_an_optional_column_is_there_only_if_a_row_has_a_value():
    columns = (TableColumn("Method", cell=lambda row: row[0]), TableColumn("±", optional=True, cell=lambda row: row[1]))
    sheet = Sheet.from_rows("", columns, [("VSE", ""), ("VSE++", "")])
    assert (len(sheet.columns), sheet.rows) == (1, [["VSE"], ["VSE++"]])
    assert "±" not in "\n".join(sheet.markdown()) + sheet.html()
    assert Sheet.from_rows("", columns, [("VSE", ""), ("VSE++", "1.2")]).rows == [["VSE", ""], ["VSE++", "1.2"]]


def test_the_best_number_of_a_column_is_bold_as_printed_and_so_are_ties():
    first, second, third = lines(DOCUMENT.latex(), r"\midrule", r"\bottomrule")
    assert first == r"VSE & 9.8 & 1,012 & 1 \\"
    assert second.endswith(r" & \textbf{10.2} & \textbf{12} & 1 \\")
    assert third == r"Order & \textbf{10.2} &  & 1 \\"


@pytest.mark.parametrize(("cells", "best"), [(["3.1", ""], set()), (["3", "x"], set()), (["-1.5", "+2"], {1})])
def test_one_number_alone_is_not_called_the_best(cells, best):
    assert TableColumn("rsum", best="highest").best_rows(cells) == best


def test_empty_columns_and_what_no_paper_names_are_left_out():
    latex = DOCUMENT.latex()
    assert "vsepp" not in latex
    assert "Variant" not in latex
    assert r"\pm} &" not in latex


def test_intervals_are_there_only_if_asked_for_and_never_bold():
    assert "10.4" not in DOCUMENT.latex()
    with_intervals = DOCUMENT.latex(intervals=True)
    assert r"VSE & 9.1 to 10.4 \\" in with_intervals
    assert with_intervals.count(r"\begin{table}") == 3


def test_notes_stand_below_as_a_list_and_then_what_is_looked_up():
    latex = DOCUMENT.latex()
    assert lines(latex, r"\begin{itemize}", r"\end{itemize}}") == [r"\item 100\% of A\_1."]
    assert latex.index(r"\item") < latex.index(r"batch\_size")


def test_no_special_character_is_left():
    text = as_latex("".join(SPECIAL) + "-1")
    unescaped = re.sub(r"\\(?:[&%$#_{}]|[a-z]+\{(?:\\pm|\\times|-)?\})", "", text)
    assert unescaped.strip() == "1"
    assert as_latex("x-1 -2") == r"x-1 \ensuremath{-}2"


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs LaTeX")
def test_it_compiles(tmp_path):
    (tmp_path / "table.tex").write_text(DOCUMENT.latex(intervals=True), encoding="utf-8")
    packages = "\\usepackage[T1]{fontenc}\\usepackage{booktabs,graphicx}"
    document = f"\\documentclass{{article}}{packages}\\begin{{document}}\\input{{table}}\\end{{document}}"
    (tmp_path / "document.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "document.tex"]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert made.returncode == 0, made.stdout


@pytest.mark.parametrize("text", ["[2em] x", "*", "  [x]"])
def test_the_start_of_a_cell_is_no_argument_of_the_line_before(text):
    assert re.fullmatch(r"\s*\{[\[*]\}.*", as_latex(text))
