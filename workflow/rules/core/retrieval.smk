# What a trained method yields: the ranks of the test images and sentences, one row for each query, from which all
# tables are computed; and the embeddings of a split, which figures and searches read.


rule retrieve:
    input:
        unpack(training.inputs),
        model="<model>/round{round}/model.safetensors",
    output:
        "<results>/{dataset}/retrieval/{protocol}/{variant}/seed{seed}/round{round}.parquet",
    log:
        "<logs>/retrieve/{dataset}_{protocol}_{variant}_seed{seed}_round{round}.log",
    wildcard_constraints:
        protocol="full|five_folds|first_1000|random_1000|hodosh",
    conda:
        "../../../envs/torch.yaml"
    threads: configured(datasets.threads)
    resources:
        mem_mb=4000,
        gpu=settings.gpu,
    params:
        code=configured(training.code_of("retrieve.py")),
        threads=configured(datasets.threads),
    message:
        "retrieval: {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}, round {wildcards.round}"
    script:
        "../../scripts/retrieve.py"


rule retrieve_by_ensemble:
    input:
        unpack(training.inputs_of_members),
        models=filled(
            "<results>/{dataset}/models/{variant}/seed{seed}/round{round}/model.safetensors", training.members
        ),
    output:
        "<results>/{dataset}/retrieval/{protocol}/{ensemble}/seed{seed}/ensemble.parquet",
    log:
        "<logs>/retrieve_by_ensemble/{dataset}_{protocol}_{ensemble}_seed{seed}.log",
    wildcard_constraints:
        protocol="full|five_folds|first_1000|random_1000|hodosh",
    conda:
        "../../../envs/torch.yaml"
    threads: configured(datasets.threads)
    resources:
        mem_mb=8000,
        gpu=settings.gpu,
    params:
        code=configured(training.code_of_ensemble),
        threads=configured(datasets.threads),
    message:
        "retrieval: the ensemble {wildcards.ensemble} on {wildcards.dataset}, seed {wildcards.seed}"
    script:
        "../../scripts/retrieve_by_ensemble.py"


rule embed:
    input:
        unpack(training.inputs),
        model="<model>/round{round}/model.safetensors",
    output:
        "<results>/{dataset}/embeddings/{variant}/seed{seed}/round{round}/{split}.parquet",
    log:
        "<logs>/embed/{dataset}_{variant}_seed{seed}_round{round}_{split}.log",
    wildcard_constraints:
        split="train|val|test",
    conda:
        "../../../envs/torch.yaml"
    threads: configured(datasets.threads)
    resources:
        mem_mb=8000,
        gpu=settings.gpu,
    params:
        code=configured(training.code_of("embed.py")),
        threads=configured(datasets.threads),
    message:
        "embedding {wildcards.split}: {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}, round {wildcards.round}"
    script:
        "../../scripts/embed.py"
