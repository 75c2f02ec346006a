# Boxes that may hold an object, and how well they cover the true boxes of a data set that has some.


rule propose:
    input:
        unpack(dataset_sources),
        proposer_files,
        image_table=f"{RESULTS}/{{dataset}}/images.parquet",
        code=code("propose.py"),
    output:
        f"{RESULTS}/{{dataset}}/proposals/{{proposer}}/{{shard}}.parquet",
    log:
        f"{RESULTS}/logs/propose/{{dataset}}_{{proposer}}_{{shard}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/propose/{{dataset}}_{{proposer}}_{{shard}}.tsv"
    conda:
        "../../envs/base.yaml"
    threads: 8
    resources:
        mem_mb=3000,
        runtime=120,
    params:
        proposer=proposer_settings,
        sources=source_names,
    script:
        "../scripts/propose.py"


rule proposal_recall:
    input:
        proposals=proposal_files,
        boxes=f"{RESULTS}/{{dataset}}/boxes.parquet",
        code=code("proposal_recall.py"),
    output:
        f"{RESULTS}/{{dataset}}/proposals/{{proposer}}_recall.parquet",
    log:
        f"{RESULTS}/logs/proposal_recall/{{dataset}}_{{proposer}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/proposal_recall/{{dataset}}_{{proposer}}.tsv"
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=4000,
    script:
        "../scripts/proposal_recall.py"


rule proposal_table:
    input:
        recalls=recall_files,
        code=code("proposal_table.py"),
    output:
        f"{RESULTS}/tables/proposals_{{dataset}}.md",
    log:
        f"{RESULTS}/logs/proposal_table/{{dataset}}.log",
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=500,
    params:
        title=dataset_title,
        proposers=compared_proposers,
    script:
        "../scripts/proposal_table.py"
