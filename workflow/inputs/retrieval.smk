# Functions that retrieval.smk is made with: from wildcards to files and settings.


def retrieval_code(wildcards):
    return code("retrieve.py", method_module(wildcards))


def retrieval_files(dataset, protocol, rounds):
    """RETRIEVAL artifacts by variant, then round, then seed, for `rounds`: variant -> which of its rounds."""
    return [
        f"{RESULTS}/{dataset}/retrieval/{protocol}/{name}/seed{seed}/round{number}.parquet"
        for name, numbers in rounds.items()
        for number in numbers
        for seed in SETTINGS.datasets[dataset].seeds
    ]
