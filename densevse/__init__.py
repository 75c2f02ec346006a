"""densevse: five papers on matching images with sentences, on one set of cached, inspectable artifacts.

`docs/architecture.md` says which room holds what and which way imports run.
"""

import gc
from importlib import import_module
from typing import TYPE_CHECKING, Any

from densevse import moved

if TYPE_CHECKING:
    from densevse.evaluation.given.measure import evaluate
    from densevse.inference.model import load

_MODULES = {"evaluate": "densevse.evaluation.given.measure", "load": "densevse.inference.model"}
__all__ = ["evaluate", "load"]

# Importing torch makes hundreds of thousands of objects and hardly any garbage. To look for some as often as Python
# does takes a tenth of the start of each job.
gc.set_threshold(100_000, 50, 50)
moved.install()


def __getattr__(name: str) -> Any:
    """A name of the package, imported when it is asked for: `import densevse` stays light, and so do its jobs.

    Raises `InputError` that names the extra if packages are missing that it needs.
    """
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "load":
        from densevse.config.environment import check_extra

        check_extra("torch", "workflow", "densevse.load")
    return getattr(import_module(_MODULES[name]), name)
