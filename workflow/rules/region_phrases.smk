# Region-phrase ranking on true boxes (HM-LSTM, Table 4), where phrases have some.


def region_tables(dataset):
    """The table of region-phrase ranking, where a data set's phrases have true boxes and a method has phrases."""
    possible = phrases_have_boxes(dataset) and variants_with_phrases(dataset)
    return [f"{RESULTS}/tables/{dataset}_regions.md"] if possible else []


def variants_with_phrases(dataset):
    return {name: entry for name, entry in compared_variants(dataset).items() if entry.model == "hm_lstm"}


def true_regions(wildcards):
    """The features of true boxes by the network of the variant's regions."""
    dataset, entry = dataset_settings(wildcards), variant_settings(wildcards)
    network = {**dataset.networks, **entry.networks}["regions"]
    return f"{RESULTS}/{wildcards.dataset}/features/{network}/regions-true/test.parquet"


def region_rankings(wildcards):
    """The last round of every variant that has phrases, and every seed."""
    return [
        f"{RESULTS}/{wildcards.dataset}/region_ranking/{name}/seed{seed}/round{entry.rounds}.parquet"
        for name, entry in variants_with_phrases(wildcards.dataset).items()
        for seed in dataset_settings(wildcards).seeds
    ]


def region_table_settings(wildcards):
    dataset, entries = dataset_settings(wildcards), variants_with_phrases(wildcards.dataset)
    titles = {name: entry.title for name, entry in entries.items()}
    return {"title": dataset.title, "titles": titles, "seeds": dataset.seeds}


rule extract_true_regions:
    input:
        unpack(dataset_sources),
        image_table=f"{RESULTS}/{{dataset}}/images.parquet",
        boxes=f"{RESULTS}/{{dataset}}/boxes.parquet",
        weights=network_weights,
        code=code("extract_true_regions.py"),
    output:
        f"{RESULTS}/{{dataset}}/features/{{network}}/regions-true/test.parquet",
    log:
        f"{RESULTS}/logs/extract_true_regions/{{dataset}}_{{network}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/extract_true_regions/{{dataset}}_{{network}}.tsv"
    conda:
        "../../envs/torch.yaml"
    threads: SETTINGS.threads
    resources:
        mem_mb=4000,
        gpu=SETTINGS.gpu,
    params:
        network=region_settings,
        sources=source_names,
        threads=SETTINGS.threads,
    script:
        "../scripts/extract_true_regions.py"


rule rank_regions:
    input:
        unpack(method_inputs),
        model=f"{MODELS}/round{{round}}/model.safetensors",
        true_regions=true_regions,
        boxes=f"{RESULTS}/{{dataset}}/boxes.parquet",
        code=code("rank_regions.py"),
    output:
        f"{RESULTS}/{{dataset}}/region_ranking/{{variant}}/seed{{seed}}/round{{round}}.parquet",
    log:
        f"{RESULTS}/logs/rank_regions/{{dataset}}_{{variant}}_seed{{seed}}_round{{round}}.log",
    conda:
        "../../envs/torch.yaml"
    threads: SETTINGS.threads
    resources:
        mem_mb=4000,
        gpu=SETTINGS.gpu,
    params:
        threads=SETTINGS.threads,
    script:
        "../scripts/rank_regions.py"


rule region_table:
    input:
        rankings=region_rankings,
        published=str(ROOT / "config/published/regions/hm_lstm.csv"),
        papers=str(ROOT / "config/published/papers.yaml"),
        code=code("region_table.py"),
    output:
        markdown=f"{RESULTS}/tables/{{dataset}}_regions.md",
        html=report(
            f"{RESULTS}/tables/{{dataset}}_regions.html",
            caption="../report/table.rst",
            category="Tables",
            labels={"table": "{dataset}: regions and phrases"},
        ),
        csv=f"{RESULTS}/tables/{{dataset}}_regions.csv",
        parquet=f"{RESULTS}/tables/{{dataset}}_regions.parquet",
    log:
        f"{RESULTS}/logs/region_table/{{dataset}}.log",
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=1000,
    params:
        settings=region_table_settings,
    script:
        "../scripts/region_table.py"
