"""`make newcomer`: four scripted mornings of a newcomer, complete; each step is printed when it succeeded."""

import argparse
import tempfile
from pathlib import Path

from tests.projects import SMALL, Project, copy_code
from tests.system.newcomer.mornings import SCENES, changed_configuration, five_commands, new_method, own_data_set

MORNINGS = {
    "five commands": five_commands,
    "a data set of one's own": own_data_set,
    "a new method": new_method,
    "a change": changed_configuration,
}


def main(seed: int) -> None:
    """Raises `AssertionError` at the first step that goes wrong."""
    with tempfile.TemporaryDirectory(prefix="newcomer-") as folder:
        for name, morning in MORNINGS.items():
            print(f"{name}, seed {seed}", flush=True)
            project = Project(copy_code(Path(folder, morning.__name__)))
            project.configure(SMALL)
            if morning in (new_method, changed_configuration):
                project.run(SCENES)
            for step in morning(project, seed):
                print(f"  {step}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    main(parser.parse_args().seed)
