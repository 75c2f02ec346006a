# Figures of every method: the course of training, and what queries found.


def figures(dataset):
    """Every figure of a data set that all methods have."""
    folder = f"{RESULTS}/figures/{dataset}"
    return [f"{folder}/training_curves.svg", *(f"{folder}/examples/{name}.png" for name in compared(SETTINGS, dataset))]


def histories_of(dataset):
    """Variant -> a run a seed -> its rounds' histories."""
    return {
        name: [
            [
                f"{MODELS}/round{number}/history.parquet".format(dataset=dataset, variant=name, seed=seed)
                for number in range(entry.rounds + 1)
            ]
            for seed in SETTINGS.datasets[dataset].seeds
        ]
        for name, entry in compared_variants(dataset).items()
    }


def history_files(wildcards):
    return [path for runs in histories_of(wildcards.dataset).values() for run in runs for path in run]


def history_runs(wildcards):
    return histories_of(wildcards.dataset)


def title_of_dataset(wildcards):
    return dataset_settings(wildcards).title


def title_of_variant(wildcards):
    return f"{variant_settings(wildcards).title} ({wildcards.variant}) on {dataset_settings(wildcards).title}"


def example_retrieval(wildcards):
    """The last round of the first seed."""
    entry, dataset = variant_settings(wildcards), dataset_settings(wildcards)
    folder = f"{RESULTS}/{wildcards.dataset}/retrieval/{first_protocol(wildcards.dataset)}"
    return f"{folder}/{wildcards.variant}/seed{dataset.seeds[0]}/round{entry.rounds}.parquet"


rule training_curves:
    input:
        histories=history_files,
        code=code("training_curves.py"),
    output:
        report(
            f"{RESULTS}/figures/{{dataset}}/training_curves.svg",
            caption="../report/training_curves.rst",
            category="Training",
            labels={"data set": "{dataset}"},
        ),
    log:
        f"{RESULTS}/logs/training_curves/{{dataset}}.log",
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=1000,
    params:
        runs=history_runs,
        title=title_of_dataset,
    script:
        "../scripts/training_curves.py"


rule example_retrievals:
    input:
        unpack(dataset_sources),
        retrieval=example_retrieval,
        image_table=f"{RESULTS}/{{dataset}}/images.parquet",
        caption_table=f"{RESULTS}/{{dataset}}/captions.parquet",
        code=code("example_retrievals.py"),
    output:
        report(
            f"{RESULTS}/figures/{{dataset}}/examples/{{variant}}.png",
            caption="../report/examples.rst",
            category="Examples",
            labels={"data set": "{dataset}", "variant": "{variant}"},
        ),
    log:
        f"{RESULTS}/logs/example_retrievals/{{dataset}}_{{variant}}.log",
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=1500,
    params:
        sources=source_names,
        title=title_of_variant,
    script:
        "../scripts/example_retrievals.py"
