"""The golden plan: each job of some tables once, in a sorted line with its rule, wildcards, inputs and settings.

`make golden-plan` writes it anew. A difference in the file shows what a change plans otherwise.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_suffix(".txt")
TARGETS = ("all", *(f"results/tables/{name}.md" for name in ("flickr8k", "flickr30k", "coco", "pascal1k")))
OPTIONS = ("--cores", "4", "--quiet", "all", "--configfile", str(Path(__file__).with_suffix(".yaml")))


def plan_lines() -> list[str]:
    """Plans the targets in the working folder, and returns a line for each job. Call this in a process of its own."""
    from snakemake.api import DAGApi
    from snakemake.cli import main

    workflows = []
    execute = DAGApi.execute_workflow

    def execute_and_keep(self: Any, *arguments: Any, **options: Any) -> None:
        workflows.append(self.workflow_api._workflow)
        execute(self, *arguments, **options)

    DAGApi.execute_workflow = execute_and_keep
    try:
        main(["--dry-run", *OPTIONS, "--", *TARGETS])
    except SystemExit as end:
        if end.code:
            raise
    return sorted({_line(job) for job in workflows[0].dag.jobs})


def _line(job: Any) -> str:
    inputs = {name: found if isinstance(found, str) else list(found) for name, found in job.input.items()}
    unnamed = list(job.input) if job.input and not inputs else []
    given: Mapping[str, Any] = dict(job.params.get("given") or {})
    parts = (dict(job.wildcards_dict), inputs or unnamed, given)
    return " ".join([job.rule.name, *(json.dumps(part) for part in parts)])


def main() -> None:
    """Writes the plan of the code in the working folder to the file that the command names."""
    Path(sys.argv[1]).write_text("".join(f"{line}\n" for line in plan_lines()), encoding="utf-8")


if __name__ == "__main__":
    main()
