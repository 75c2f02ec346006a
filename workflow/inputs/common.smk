# Names that every stage uses: the validated settings, and functions from wildcards to paths.
import os
import sys
from pathlib import Path

ROOT = Path(workflow.basedir)
sys.path.insert(0, str(ROOT))
# Jobs run in processes (and perhaps conda environments) of their own; they find the package by this.
os.environ.update(PYTHONPATH=str(ROOT))

from densevse.artifacts.shards import shard_names
from densevse.settings.code import imported_files
from densevse.settings.environment import JOB_ENVIRONMENT
from densevse.settings.load import compared, load, variant

for name, value in JOB_ENVIRONMENT.items():
    os.environ.setdefault(name, value)

SETTINGS = load(ROOT / "config", config)
RESULTS = SETTINGS.results
RESOURCES = SETTINGS.resources


wildcard_constraints:
    dataset="|".join(SETTINGS.datasets),
    network="|".join(SETTINGS.networks),
    proposer="|".join(SETTINGS.proposers),
    parser="|".join(SETTINGS.parsers),
    vectors="|".join(SETTINGS.word_vectors),
    view="whole|ten_crop|grid",
    shard=r"\d+-of-\d+",
    seed=r"\d+",
    round=r"\d+",


def settings_of(entry):
    """A configuration entry as plain values, for `params:` (a change of them reruns the rule)."""
    return entry.model_dump(mode="json")


def code(script, *modules):
    """The package's files that a script (and further modules, given as paths) is made of, for `input:`."""
    files = {ROOT / module for module in modules}
    for file in [ROOT / "workflow/scripts" / script, *files]:
        files = files | imported_files(file, ROOT)
    return sorted(str(file) for file in files)


def dataset_settings(wildcards):
    return SETTINGS.datasets[wildcards.dataset]


def torch_threads(wildcards):
    """Threads of a job that computes with torch: settings, as the last bits of a sum depend on their number."""
    return dataset_settings(wildcards).threads or SETTINGS.threads


def variant_settings(wildcards):
    return variant(SETTINGS, wildcards.variant, wildcards.dataset)


def obtained(owner, source, local):
    """Where a source's file is: the user's own, or the one below resources/."""
    return local or f"{RESOURCES}/{owner}/{source.file}"


def dataset_sources(wildcards):
    """Every file that a data set is read from, by source name."""
    dataset = dataset_settings(wildcards)
    named = {
        name: obtained(wildcards.dataset, source, dataset.local.get(name)) for name, source in dataset.sources.items()
    }
    return {**named, **dataset.local}


def sharded(folder, dataset):
    """The shards of a data set's artifact, in order."""
    return [f"{folder}/{shard}.parquet" for shard in shard_names(SETTINGS.datasets[dataset].shards)]


def feature_files(dataset, view, network):
    """The feature shards of a view; regions are those of the data set's proposer."""
    folder = f"{RESULTS}/{dataset}/features/{network}"
    if view == "regions":
        return sharded(f"{folder}/regions-{SETTINGS.datasets[dataset].proposer}", dataset)
    return sharded(f"{folder}/{view}", dataset)


def parse_files(wildcards):
    dataset = dataset_settings(wildcards)
    return sharded(f"{RESULTS}/{wildcards.dataset}/parses/{dataset.parser}", wildcards.dataset)


def class_names(wildcards):
    """The file of a network's class names; ImageNet's come with torchvision."""
    classes = SETTINGS.networks[wildcards.network].classes
    return [] if classes in (None, "imagenet") else str(ROOT / classes)
