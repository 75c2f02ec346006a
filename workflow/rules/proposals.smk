# Boxes that may hold an object, and how well they cover the true boxes of a data set that has some.


rule propose:
    input:
        unpack(datasets.sources),
        proposals.files_of_user,
        image_table="<results>/{dataset}/images.parquet",
    output:
        "<results>/{dataset}/proposals/{proposer}/{shard}.parquet",
    log:
        "<logs>/propose/{dataset}_{proposer}_{shard}.log",
    wildcard_constraints:
        proposer=proposals.of_kind("selective_search", "file", "detections", "mcg_published"),
    priority: 1  # long, and it waits for nothing but the photographs
    conda:
        "../../envs/base.yaml"
    threads: proposals.processes
    resources:
        mem_mb=3000,
        runtime=120,
    params:
        code=code_of("propose.py"),
        proposer=proposals.proposer,
        sources=datasets.source_names,
    message:
        "proposing boxes on {wildcards.dataset} by {wildcards.proposer}, shard {wildcards.shard}"
    script:
        "../scripts/propose.py"


rule cluster_proposals:
    input:
        proposals=proposals.to_cluster,
    output:
        "<results>/{dataset}/proposals/{proposer}/{shard}.parquet",
    log:
        "<logs>/cluster_proposals/{dataset}_{proposer}_{shard}.log",
    wildcard_constraints:
        proposer=proposals.of_kind("clustered"),
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=2000,
    params:
        code=code_of("cluster_proposals.py"),
        options=proposals.clusters,
    message:
        "clustering the boxes of {wildcards.dataset} for {wildcards.proposer}, shard {wildcards.shard}"
    script:
        "../scripts/cluster_proposals.py"


rule proposal_recall:
    input:
        proposals=proposals.files,
        boxes="<results>/{dataset}/boxes.parquet",
        segment_overlap=proposals.segment_overlap,
    output:
        "<results>/{dataset}/proposals/{proposer}_recall.parquet",
    log:
        "<logs>/proposal_recall/{dataset}_{proposer}.log",
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=4000,
    params:
        code=code_of("proposal_recall.py"),
    message:
        "measuring the boxes of {wildcards.proposer} on {wildcards.dataset}"
    script:
        "../scripts/proposal_recall.py"


# Alone on the machine where possible: what else runs there slows it down.
rule time_selective_search:
    input:
        unpack(datasets.sources),
        image_table="<results>/{dataset}/images.parquet",
    output:
        "<results>/{dataset}/proposals/{proposer}_times.parquet",
    log:
        "<logs>/time_selective_search/{dataset}_{proposer}.log",
    wildcard_constraints:
        proposer=proposals.of_kind("selective_search"),
    conda:
        "../../envs/torch.yaml"
    resources:
        mem_mb=3000,
    params:
        code=code_of("time_selective_search.py"),
        options=proposals.search_options,
        sources=datasets.source_names,
    message:
        "timing {wildcards.proposer} on {wildcards.dataset}"
    script:
        "../scripts/time_selective_search.py"


rule proposal_table:
    input:
        recalls=proposals.recalls,
        times=proposals.times,
        published=proposals.published,
    output:
        markdown="<results>/tables/proposals_{dataset}.md",
        html=report(
            "<results>/tables/proposals_{dataset}.html",
            caption="../report/proposals.rst",
            category="Tables",
            labels={"table": "proposals on {dataset}"},
        ),
    log:
        "<logs>/proposal_table/{dataset}.log",
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=500,
    params:
        code=code_of("proposal_table.py"),
        title=datasets.title,
        proposers=proposals.compared,
        timed=proposals.timed,
    message:
        "writing the table of proposals on {wildcards.dataset}"
    script:
        "../scripts/proposal_table.py"
