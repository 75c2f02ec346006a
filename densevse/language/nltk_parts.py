"""What is used of NLTK, imported without the packages that its other parts would import too.

NLTK imports all of its parts at once, and these import scikit-learn and SciPy where they find them, which takes longer
than most jobs of a small data set. They are optional to NLTK, so while it is imported they are not found.
"""

import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager

OPTIONAL = ("matplotlib", "scipy", "sklearn")


@contextmanager
def _not_found(packages: Collection[str]) -> Iterator[None]:
    """Let imports of packages fail with `ImportError`, but for those that are imported already."""
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
