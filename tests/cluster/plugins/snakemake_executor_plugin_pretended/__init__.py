"""A cluster that computes nothing: it writes down what each job asks for, and makes the job's files, without contents.

Snakemake treats it as it treats Slurm: jobs are grouped, tried again and given resources as for a real one.
"""

import json
import os
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor
from snakemake_interface_executor_plugins.settings import CommonSettings

from snakeproof.schema import Schema, write
from snakeproof.seals import sealed_file
from snakeproof.statements import is_artifact, making, state_job, statement_metadata

REQUESTS = "requests.jsonl"
FAILING = "PRETENDED_FAILURES"
"""Environment variable: rules whose jobs fail at their first attempt, with commas between them."""

common_settings = CommonSettings(
    non_local_exec=True,
    implies_no_shared_fs=False,
    job_deploy_sources=False,
    pass_default_storage_provider_args=True,
    pass_default_resources_args=True,
    pass_envvar_declarations_to_cmd=False,
    auto_deploy_default_storage_provider=False,
    init_seconds_before_status_checks=0,
)


class Executor(RemoteExecutor):
    def __post_init__(self):
        self.failing = set(os.environ.get(FAILING, "").split(","))

    def run_job(self, job):
        jobs = list(job) if job.is_group() else [job]
        request = {
            "group": jobs[0].group if job.is_group() else None,
            "rules": [one.rule.name for one in jobs],
            "runtimes": [one.resources.get("runtime") for one in jobs],
            "attempt": job.attempt,
            "threads": job.threads,
            "resources": {
                name: value for name, value in job.resources.items() if isinstance(value, int | str) and name[0] != "_"
            },
        }
        with Path(REQUESTS).open("a") as file:
            file.write(json.dumps(request) + "\n")
        fails = job.attempt == 1 and self.failing & set(request["rules"])
        if not fails:
            for one in jobs:
                make_outputs(one)
        self.report_job_submission(SubmittedJobInfo(job, aux={"fails": bool(fails)}))

    async def check_active_jobs(self, active_jobs):
        for info in active_jobs:
            if info.aux["fails"]:
                self.report_job_error(info)
            else:
                self.report_job_success(info)
        self.next_seconds_between_status_checks = 0.05
        for none in ():
            yield none

    def cancel_jobs(self, active_jobs):
        pass


def make_outputs(job):
    """Makes the outputs of a job: artifacts that state it and have no rows, and empty files."""
    for path in job.output:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        if path.is_directory:
            Path(path).mkdir(exist_ok=True)
        elif is_artifact(path):
            with making(state_job(job)):
                make_artifact(path)
        else:
            Path(path).touch()


def make_artifact(path):
    if path.endswith(".parquet"):
        write([], Schema("nothing", "none", ()), path)
        return
    with sealed_file(path) as written:
        save_file({"nothing": np.zeros(1)}, written, statement_metadata())
