# The recall of true boxes by proposals, on data sets with true boxes, and the time that proposers take.

from densevse.analyses.proposal_recall import dag

proposal_recall = analyses.add(dag)


# Alone on the machine if possible, as other processes slow it down.
rule time_mcg:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.pictures),
        image_table="<results>/{dataset}/images.parquet",
        model=path("<resources>/hed/hed.safetensors", proposals.contour_model),
        ranker="<results>/rankers/{proposer}.safetensors",
    output:
        "<results>/{dataset}/proposals/{proposer}_times.parquet",
    log:
        "<logs>/time_mcg/{dataset}_{proposer}.log",
    wildcard_constraints:
        proposer=name_pattern(proposals.find_proposers("mcg", maps=False)),
    conda:
        f"{ENVS}/torch.yaml"
    resources:
        **settings.accelerator,
        mem_mb=growing(6000),
    params:
        **calling("densevse.analyses.proposal_recall.times:write_times_of_mcg", proposal_recall.times_job),
        contents=contents_of("<resources>/hed/hed.safetensors", proposals.contour_model),
    message:
        "timing {wildcards.proposer} on {wildcards.dataset}, step by step"
    script:
        RUNNER


rule proposal_recall:
    input:
        proposals=path(
            "<results>/{dataset}/proposals/{proposer}/{shard}.parquet", lambda dataset: project.shards(dataset)
        ),
        boxes="<results>/{dataset}/boxes.parquet",
        image_table="<results>/{dataset}/images.parquet",
        segment_overlap=path(
            "<results>/{dataset}/segment_overlap/{proposer}/{shard}.parquet", proposal_recall.segment_overlap
        ),
    output:
        "<results>/{dataset}/proposals/{proposer}_recall.parquet",
    log:
        "<logs>/proposal_recall/{dataset}_{proposer}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        **calling("densevse.analyses.proposal_recall.recall:write_recall"),
    message:
        "measuring the boxes of {wildcards.proposer} on {wildcards.dataset}"
    script:
        RUNNER


# Alone on the machine if possible, as other processes slow it down.
rule time_selective_search:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.pictures),
        image_table="<results>/{dataset}/images.parquet",
    output:
        "<results>/{dataset}/proposals/{proposer}_times.parquet",
    log:
        "<logs>/time_selective_search/{dataset}_{proposer}.log",
    wildcard_constraints:
        proposer=name_pattern(proposals.find_proposers("selective_search")),
    conda:
        f"{ENVS}/torch.yaml"
    resources:
        mem_mb=growing(3000),
    params:
        **calling("densevse.analyses.proposal_recall.times:write_times_of_search", proposal_recall.times_job),
    message:
        "timing {wildcards.proposer} on {wildcards.dataset}"
    script:
        RUNNER


rule proposal_table:
    input:
        recalls=path("<results>/{dataset}/proposals/{proposer}_recall.parquet", proposal_recall.compared_proposers),
        times=path("<results>/{dataset}/proposals/{proposer}_times.parquet", proposal_recall.timed_proposers),
        published=path(
            "<package>/analyses/proposal_recall/published/{dataset}.{kind}", proposal_recall.published_metrics
        ),
    output:
        **table_pages("<results>/tables/{dataset}_proposals", "proposals.rst", table="proposals on {dataset}"),
    log:
        "<logs>/proposal_table/{dataset}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        **calling("densevse.analyses.proposal_recall.table:write_table", proposal_recall.table_job),
        contents=contents_of(
            "<package>/analyses/proposal_recall/published/{dataset}.{kind}", proposal_recall.published_metrics
        ),
    message:
        "writing the table of proposals on {wildcards.dataset}"
    script:
        RUNNER
