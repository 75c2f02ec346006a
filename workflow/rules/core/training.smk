# One rule trains every method, one goes on from the round before. What a method reads, its config says.


rule train:
    input:
        unpack(training.inputs),
        start=training.origin,
        network=training.network,
    output:
        model="<model>/round0/model.safetensors",
        history="<model>/round0/history.parquet",
    log:
        "<logs>/train/{dataset}_{variant}_seed{seed}_round0.log",
    priority: 1  # long, and most else waits for it
    conda:
        "../../../envs/torch.yaml"
    threads: datasets.threads
    resources:
        mem_mb=8000,
        runtime=1440,
        gpu=settings.gpu,
    params:
        code=training.code_of("train.py"),
        method=training.method,
        parameters=training.parameters,
        sentences=training.sentences,
        training=training.training,
        phases=training.phases,
        seed=training.seed,
        round=training.round,
        threads=datasets.threads,
    message:
        "training {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}"
    script:
        "../../scripts/train.py"


rule train_round:
    input:
        unpack(training.inputs),
        start=training.start,
        correspondences=training.correspondences,
    output:
        model="<model>/round{round}/model.safetensors",
        history="<model>/round{round}/history.parquet",
    log:
        "<logs>/train/{dataset}_{variant}_seed{seed}_round{round}.log",
    wildcard_constraints:
        round=r"[1-9]\d*",
    priority: 1  # long, and most else waits for it
    conda:
        "../../../envs/torch.yaml"
    threads: datasets.threads
    resources:
        mem_mb=8000,
        runtime=1440,
        gpu=settings.gpu,
    params:
        code=training.code_of("train.py"),
        method=training.method,
        parameters=training.parameters,
        sentences=training.sentences,
        training=training.training,
        phases=training.phases,
        seed=training.seed,
        round=training.round,
        threads=datasets.threads,
    message:
        "training {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}, round {wildcards.round}"
    script:
        "../../scripts/train.py"
