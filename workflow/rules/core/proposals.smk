# Boxes that may hold an object.

from densevse.dag.fields import dump_entry


rule propose:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.pictures),
        files=path("{own_file}", proposals.own_files),
        image_table="<results>/{dataset}/images.parquet",
    output:
        "<results>/{dataset}/proposals/{proposer}/{shard}.parquet",
    log:
        "<logs>/propose/{dataset}_{proposer}_{shard}.log",
    wildcard_constraints:
        proposer=name_pattern(name for name, one in settings.proposers.items() if one.kind not in ("mcg", "clustered")),
    priority: 1  # long, and it depends only on the photographs
    conda:
        "../../../envs/base.yaml"
    threads: from_wildcards(lambda dataset: project.datasets[dataset].threads or 8)
    resources:
        mem_mb=growing(3000),
        runtime=growing(120),
    params:
        **calling("densevse.vision.proposals:write_proposals", proposals.job),
        contents=contents_of("{own_file}", proposals.own_files),
    message:
        "proposing boxes on {wildcards.dataset} by {wildcards.proposer}, shard {wildcards.shard}"
    script:
        RUNNER


rule cluster_proposals:
    input:
        proposals=path(
            "<results>/{dataset}/proposals/{proposer}/{shard}.parquet",
            lambda proposer: {"proposer": settings.proposers[proposer].options.of},
        ),
    output:
        "<results>/{dataset}/proposals/{proposer}/{shard}.parquet",
    log:
        "<logs>/cluster_proposals/{dataset}_{proposer}_{shard}.log",
    wildcard_constraints:
        proposer=name_pattern(name for name, one in settings.proposers.items() if one.kind == "clustered"),
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        **calling(
            "densevse.vision.clusters:write_clusters",
            lambda proposer: Job({"options": dump_entry(settings.proposers[proposer].options)}),
        ),
    message:
        "clustering the boxes of {wildcards.dataset} for {wildcards.proposer}, shard {wildcards.shard}"
    script:
        RUNNER
