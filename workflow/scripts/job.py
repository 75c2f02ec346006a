"""Runs a job of any rule: calls the function that the rule names as its param `call` (snakeproof/runner.py)."""

import atexit
import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
ADVICE = {
    "OutOfMemoryError": (
        "The GPU has too little free memory for this job. See in `nvidia-smi` whether other programs use it; lower "
        "`jobs_per_gpu`, the method's `training.batch_size` or the network's `batch_size`; or compute on the CPU "
        "with `--config gpu=0`."
    )
}
"""What to do after an error of a library: torch's of a full GPU."""


def end() -> None:
    """Ends the process of a job that is done. Python would first free every object, a fifth of a second with torch."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    atexit.register(end)  # what is registered first runs last, after the threads and what the job's libraries register
    if (ROOT / "densevse").is_dir():
        # A checkout's package comes after all installed ones, and no other checkout; an installed one is found without.
        sys.path[:] = [*(path for path in sys.path if not Path(path, "densevse/__init__.py").is_file()), str(ROOT)]
    try:
        from densevse.runtime import exact
        from snakeproof.runner import run

        run(snakemake, ADVICE, {exact.REVISION: exact.begin})
    except BaseException:
        atexit.unregister(end)
        raise
