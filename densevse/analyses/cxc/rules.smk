# CxC: people's ratings of pairs of MS-COCO's images and sentences, and retrieval within each kind.

from densevse.analyses.cxc import dag

cxc = analyses.add(dag)


rule measure_cxc:
    input:
        embeddings="<results>/{dataset}/embeddings/{variant}/seed{seed}/round{round}/test.parquet",
        captions="<results>/{dataset}/captions.parquet",
        judgements=path("{own_file}", cxc.files),
    output:
        scores="<results>/{dataset}/cxc_scores/{variant}/seed{seed}/round{round}.parquet",
        ranks="<results>/{dataset}/cxc_ranks/{variant}/seed{seed}/round{round}.parquet",
    log:
        "<logs>/measure_cxc/{dataset}_{variant}_seed{seed}_round{round}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(4000),
    params:
        **calling("densevse.analyses.cxc.measures:write_measures"),
        contents=contents_of("{own_file}", cxc.files),
    message:
        "measures of CxC: {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}"
    script:
        RUNNER


rule cxc_table:
    input:
        images="<results>/{dataset}/images.parquet",
        scores=path("<results>/{dataset}/cxc_scores/{variant}/seed{seed}/round{round}.parquet", cxc.measured_rounds),
        ranks=path("<results>/{dataset}/cxc_ranks/{variant}/seed{seed}/round{round}.parquet", cxc.measured_rounds),
    output:
        **table_files("<results>/tables/{dataset}_cxc", "cxc.rst", table="{dataset}: CxC"),
    log:
        "<logs>/cxc_table/{dataset}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        **calling("densevse.analyses.cxc.table:make_cxc_table", cxc.job),
    message:
        "writing the table of CxC on {wildcards.dataset}"
    script:
        RUNNER
