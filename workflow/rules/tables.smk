# Tables of results, from retrieval artifacts alone, and of the rounds of methods that learn correspondences.


rule table:
    input:
        images=table_images,
        captions=table_captions,
        retrievals=table_retrievals,
        published=PUBLISHED,
        papers=str(ROOT / "config/published/papers.yaml"),
        code=code("table.py"),
    output:
        markdown=f"{RESULTS}/tables/{{table}}.md",
        html=report(
            f"{RESULTS}/tables/{{table}}.html",
            caption="../report/table.rst",
            category="Tables",
            labels={"table": "{table}"},
        ),
        csv=f"{RESULTS}/tables/{{table}}.csv",
        parquet=f"{RESULTS}/tables/{{table}}.parquet",
    log:
        f"{RESULTS}/logs/table/{{table}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/table/{{table}}.tsv"
    wildcard_constraints:
        table="|".join(TABLES),
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=1000,
    params:
        settings=table_settings,
    script:
        "../scripts/table.py"


rule table_of_rounds:
    input:
        retrievals=rounds_retrievals,
        accuracies=rounds_accuracies,
        code=code("table_of_rounds.py"),
    output:
        markdown=f"{RESULTS}/tables/{{dataset}}_rounds.md",
        html=report(
            f"{RESULTS}/tables/{{dataset}}_rounds.html",
            caption="../report/rounds.rst",
            category="Tables",
            labels={"table": "{dataset}, rounds"},
        ),
        csv=f"{RESULTS}/tables/{{dataset}}_rounds.csv",
        parquet=f"{RESULTS}/tables/{{dataset}}_rounds.parquet",
    log:
        f"{RESULTS}/logs/table_of_rounds/{{dataset}}.log",
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=1000,
    params:
        settings=rounds_settings,
    script:
        "../scripts/table_of_rounds.py"
