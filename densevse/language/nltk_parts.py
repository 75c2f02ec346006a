"""The parts of NLTK that are used, imported without the packages that its other parts would import.

NLTK imports all of its parts at once, and these import scikit-learn and SciPy if installed, which takes longer than
most jobs of a small data set. Both are optional to NLTK, so they are hidden while it is imported.
"""

import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager

OPTIONAL = ("matplotlib", "scipy", "sklearn")


@contextmanager
def _not_found(packages: Collection[str]) -> Iterator[None]:
    """Makes imports of packages raise `ImportError` within the context, except those already imported."""
    hidden = [name for name in packages if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None stands for "not found"
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


with _not_found(OPTIONAL):
    from nltk.tokenize import NLTKWordTokenizer, TreebankWordDetokenizer

__all__ = ["NLTKWordTokenizer", "TreebankWordDetokenizer"]
