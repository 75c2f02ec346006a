"""The size of the core and the names of its functions, as numbers: who raises one edits it here, and says why."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_LINES = 43_300
"""Lines of densevse without its analyses, beside tests. What comes from outside raised it by 1,350: names, archives,
pictures and texts; vectors, judgements and seeds; what weights say of themselves (520, three libraries). Facts about
other tools raised it by 150, ties by construction by 210, and what a stranger tried by 50. Choices, files that others
read, and several vectors each raised it by 700, exact jobs by 330, the flagship's cost by 160, less waiting by 30.
`densevse new` and the sizes of a plan raised it by 820, the terminal and the served page by 100, encoders
in folders by 540, and what reading it all again mended by 220, of which own files have 110. Less that only hands on
lowered it by 160."""
MOST_ENGINE_LINES = 4_620
"""Rules of rows and `when=` of paths raised it by 50; less waiting and what begins a job by 30,
Ctrl-C, locked folders and what changed of a job by 170."""
MOST_FRAGMENTS = 0.01
"""The share of functions whose name is neither a verb with its object nor a noun."""

BEGINS = re.compile(
    "of|in|by|at|on|for|with|per|into|between|among|beside|before|after|within|without|over|under|about|above|below|"
    "than|along|across|through|until|since|against|around|behind|beyond|during|near|off|out|up|down|"
    "again|alone|also|apart|together|aside|ahead|once|twice|anew|alike|there|here|then|now|only|still|already|else|"
    "instead|otherwise|well|worse|better|best|more|most|less|least"
)
"""Prepositions and adverbs, with which a fragment begins or ends."""
ENDS = re.compile(
    "made|found|written|given|known|kept|held|left|said|told|seen|taken|chosen|drawn|shown|begun|built|bound|caught|"
    "done|felt|gone|got|grown|heard|hid|laid|led|lost|meant|met|paid|sent|spent|sought|sold|stood|thought|won|.*e[dn]"
)
"""Participles, with which one ends."""
OTHERS = re.compile("embed|open|token|shorten|seed|feed|need|speed|ten|shed|green|even|screen|listen|children|red")
VERBS = re.compile("is|has|are|was|can|must|set|shut|add|start|look")
"""Verbs that may have a preposition, adverb or participle after them."""


def python_files(*folders: str) -> list[Path]:
    """The modules of packages, beside tests."""
    paths = (path for folder in folders for path in sorted((ROOT / folder).rglob("*.py")))
    return [path for path in paths if "tests" not in path.parts]


def count_lines(paths: list[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def function_names(paths: list[Path]) -> Iterator[str]:
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("__"):
                yield node.name


def class_names(paths: list[Path]) -> Iterator[str]:
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                yield node.name


def is_fragment(name: str) -> bool:
    """True for `of_rows`, `again`, `measured` and `rows_of`: they say nothing in another file."""
    first, *others = name.strip("_").lower().split("_")
    last = others[-1] if others else first
    if BEGINS.fullmatch(first):
        return True
    if others and VERBS.fullmatch(first):
        return False
    return bool(BEGINS.fullmatch(last) or (ENDS.fullmatch(last) and not OTHERS.fullmatch(last)))


def test_fragments_are_told_from_verbs_and_nouns():
    assert all(map(is_fragment, ("measured", "_named", "of_rows", "again", "rows_of", "by_score", "write_ranked")))
    assert not any(map(is_fragment, ("read_boxes", "ranks", "is_ranked", "add_up", "embed", "ranked_rows", "to_rows")))


def test_a_function_is_a_verb_with_its_object_or_the_noun_of_what_it_returns():
    names = list(function_names(python_files("densevse", "snakeproof", "tools", "envs", "workflow")))
    fragments = sorted(filter(is_fragment, names))
    assert len(fragments) <= MOST_FRAGMENTS * len(names), fragments


def test_a_class_has_a_name_of_its_own():
    """But for `Parameters`, which each method has; what keeps an old name; and what Snakemake finds by its name."""
    names = Counter(class_names(python_files("densevse", "snakeproof", "tools", "docs", "envs", "workflow")))
    assert {name for name, times in names.items() if times > 1} == {"Parameters", "FeatureWriter", "LogHandler"}


def test_the_core_does_not_grow_unseen():
    core = [path for path in python_files("densevse") if "analyses" not in path.parts]
    assert count_lines(core) <= MOST_LINES
    engine = [path for path in python_files("snakeproof") if "example" not in path.parts]
    assert count_lines(engine) <= MOST_ENGINE_LINES
