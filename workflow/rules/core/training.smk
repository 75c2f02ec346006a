# One rule trains every method, one goes on from the round before. What a method reads, its config says.


rule train:
    input:
        unpack(training.inputs),
        start=filled("<results>/{dataset}/models/{variant}/seed{seed}/round{round}/model.safetensors", training.origin),
        network=filled("<resources>/{network}/{file}", training.network),
    output:
        model="<model>/round0/model.safetensors",
        history="<model>/round0/history.parquet",
    log:
        "<logs>/train/{dataset}_{variant}_seed{seed}_round0.log",
    priority: 1  # long, and most else waits for it
    conda:
        "../../../envs/torch.yaml"
    threads: configured(datasets.threads)
    resources:
        mem_mb=8000,
        runtime=1440,
        gpu=settings.gpus,
    params:
        code=configured(training.code_of("train.py")),
        contents=contents_of("<resources>/{network}/{file}", training.network),
        method=configured(training.method),
        parameters=configured(training.parameters),
        sentences=configured(training.sentences),
        training=configured(training.training),
        phases=configured(training.phases),
        seed=configured(training.seed),
        round=0,
        threads=configured(datasets.threads),
    message:
        "training {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}"
    script:
        "../../scripts/train.py"


use rule train as train_round with:
    input:
        unpack(training.inputs),
        start=filled(
            "<results>/{dataset}/models/{variant}/seed{seed}/round{round}/model.safetensors", training.round_before
        ),
        correspondences=filled(
            "<results>/{dataset}/models/{variant}/seed{seed}/round{round}/correspondences.parquet",
            training.correspondences_of,
        ),
    output:
        model="<model>/round{round}/model.safetensors",
        history="<model>/round{round}/history.parquet",
    log:
        "<logs>/train/{dataset}_{variant}_seed{seed}_round{round}.log",
    wildcard_constraints:
        round=r"[1-9]\d*",
    params:
        round=configured(training.round),
    message:
        "training {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}, round {wildcards.round}"
