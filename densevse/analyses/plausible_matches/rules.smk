# PMRP: retrieval where images and sentences with nearly the same classes of MS-COCO's objects match.

from densevse.analyses.plausible_matches import dag

plausible = analyses.add(dag)


rule read_classes:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.sources),
    output:
        "<results>/{dataset}/classes.parquet",
    log:
        "<logs>/read_classes/{dataset}.log",
    wildcard_constraints:
        dataset=name_pattern(name for name, one in settings.datasets.items() if one.reader == "coco"),
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(4000),
    params:
        **calling(
            "densevse.analyses.plausible_matches.matches:write_classes",
            lambda dataset: Job({"source_names": project.source_names(dataset)}),
        ),
        contents=contents_of("<resources>/{dataset}/{file}", datasets.sources),
    message:
        "reading the classes of the objects of {wildcards.dataset}"
    script:
        RUNNER


rule match_plausibly:
    input:
        unpack(training.inputs),
        model="<model>/round{round}/model.safetensors",
        classes="<results>/{dataset}/classes.parquet",
    output:
        "<results>/{dataset}/plausible/{variant}/seed{seed}/round{round}.parquet",
    log:
        "<logs>/match_plausibly/{dataset}_{variant}_seed{seed}_round{round}.log",
    conda:
        f"{ENVS}/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        **settings.accelerator,
        mem_mb=growing(8000),
    params:
        **calling("densevse.analyses.plausible_matches.matches:write_plausible", training.encoded_test_job),
    message:
        "plausible matches: {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}, round {wildcards.round}"
    script:
        RUNNER


rule plausible_table:
    input:
        images="<results>/{dataset}/images.parquet",
        found=path("<results>/{dataset}/plausible/{variant}/seed{seed}/round{round}.parquet", tables.last_rounds),
    output:
        **table_files("<results>/tables/{dataset}_pmrp", "plausible_matches.rst", table="{dataset}: PMRP"),
    log:
        "<logs>/plausible_table/{dataset}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        **calling("densevse.analyses.plausible_matches.table:make_plausible_table", plausible.job),
    message:
        "writing the table of PMRP on {wildcards.dataset}"
    script:
        RUNNER
