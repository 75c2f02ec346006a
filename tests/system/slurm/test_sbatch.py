"""The lines of sbatch that the plugin of Slurm sends for a table: partitions, GPUs, memory and time."""

from types import SimpleNamespace

import pytest

from tests.cluster import GPU_RULES, PROFILE, Request, requests

WHY = "the plugin of Slurm is not installed: make cluster"
pytest.importorskip("snakemake_executor_plugin_slurm", reason=WHY)
TARGETS = ("results/tables/flickr30k.md", "results/tables/scenes.md")


class Asked(dict):
    """Resources as a job has them."""

    def __getattr__(self, name):
        return self[name]


def sent(request: Request) -> str:
    """The line of sbatch for a request, without what it runs."""
    from snakemake_executor_plugin_slurm.partitions import get_best_partition, read_partition_file
    from snakemake_executor_plugin_slurm.submit_string import get_submit_command
    from snakemake_executor_plugin_slurm.utils import set_gres_string

    name = request.group or request.rules[0]
    job = SimpleNamespace(name=name, threads=request.threads, resources=Asked(request.resources))
    silent = SimpleNamespace(debug=str, info=str, warning=str)
    partition = get_best_partition(read_partition_file(PROFILE.parent / "partitions.yaml"), job, silent)
    values = {"run_uuid": "run", "slurm_logfile": "log", "comment_str": name, "account": "", "workdir": None}
    return get_submit_command(job, {**values, "partition": f"-p {partition}"}) + set_gres_string(job)


@pytest.mark.parametrize(
    ("values", "words"), [({"gpu": 1}, ["--gpus=1"]), ({"gpu": 1, "gres": "gpu:a100"}, ["--gres=gpu:a100:1"])]
)
def test_a_gpu_is_asked_for_once_and_in_its_partition(make_project, values, words):
    shown = {}
    for request in requests(make_project(values), *TARGETS):
        line = sent(request).split()
        wants = bool(set(request.rules) & set(GPU_RULES))
        shown[request.group or request.rules[0]] = " ".join(line)
        assert [word for word in line if "gpu" in word] == (["gpu", *words] if wants else []), line
        assert line[line.index("-p") + 1] == ("gpu" if wants else "cpu")
    print(*shown.values(), sep="\n")
