# Region-phrase ranking on true boxes (HM-LSTM, Table 4), where phrases have some.


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
    threads: torch_threads
    resources:
        mem_mb=4000,
        gpu=SETTINGS.gpu,
    params:
        network=region_settings,
        sources=source_names,
        threads=torch_threads,
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
    benchmark:
        f"{RESULTS}/benchmarks/rank_regions/{{dataset}}_{{variant}}_seed{{seed}}_round{{round}}.tsv"
    conda:
        "../../envs/torch.yaml"
    threads: torch_threads
    resources:
        mem_mb=4000,
        gpu=SETTINGS.gpu,
    params:
        threads=torch_threads,
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
