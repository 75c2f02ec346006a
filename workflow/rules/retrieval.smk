# A trained method ranks the test images and sentences: a row a query, from which all tables are computed.


rule retrieve:
    input:
        unpack(training.inputs),
        model="<model>/round{round}/model.safetensors",
    output:
        "<results>/{dataset}/retrieval/{protocol}/{variant}/seed{seed}/round{round}.parquet",
    log:
        "<logs>/retrieve/{dataset}_{protocol}_{variant}_seed{seed}_round{round}.log",
    benchmark:
        "<benchmarks>/retrieve/{dataset}_{protocol}_{variant}_seed{seed}_round{round}.tsv"
    wildcard_constraints:
        protocol="full|five_folds|first_1000|random_1000|hodosh",
    conda:
        "../../envs/torch.yaml"
    threads: datasets.threads
    resources:
        mem_mb=4000,
        gpu=settings.gpu,
    params:
        code=training.code_of_retrieval,
        threads=datasets.threads,
    message:
        "retrieval: {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}, round {wildcards.round}"
    script:
        "../scripts/retrieve.py"
