# ECCV Caption and CxC: MS-COCO's retrieval with more true pairs than each image and its own sentences.

from densevse.analyses.eccv_caption import dag

eccv_caption = analyses.add(dag)


rule eccv_caption_table:
    input:
        images="<results>/{dataset}/images.parquet",
        captions="<results>/{dataset}/captions.parquet",
        retrievals=path(
            "<results>/{dataset}/retrieval/{protocol}/{variant}/seed{seed}/round{round}.parquet",
            eccv_caption.measured_retrievals,
        ),
    output:
        **table_files(
            "<results>/tables/{dataset}_eccv_caption", "eccv_caption.rst", table="{dataset}: ECCV Caption and CxC"
        ),
    log:
        "<logs>/eccv_caption_table/{dataset}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        **calling("densevse.analyses.eccv_caption.table:make_extended_truth_table", eccv_caption.job),
    message:
        "writing the table of ECCV Caption and CxC on {wildcards.dataset}"
    script:
        RUNNER
