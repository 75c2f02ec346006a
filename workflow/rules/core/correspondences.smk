# HM-LSTM's loop (Fig 3, step 2a): the model of round t - 1 assigns a region to each phrase of round t; or true boxes
# do, which shows the value of the loop without errors.


rule correspond:
    input:
        unpack(training.inputs),
        start=path(
            "<results>/{dataset}/models/{variant}/seed{seed}/round{round}/model.safetensors", training.previous_round
        ),
        true_boxes=path("<results>/{dataset}/boxes.parquet", when=training.needs_true_boxes),
    output:
        "<results>/{dataset}/models/{variant}/seed{seed}/round{round}/correspondences.parquet",
    log:
        "<logs>/correspond/{dataset}_{variant}_seed{seed}_round{round}.log",
    wildcard_constraints:
        round=r"[1-9]\d*",
    priority: 1  # the next round depends on it
    conda:
        "../../../envs/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        **settings.accelerator,
        mem_mb=growing(datasets.memory(2000, 210)),
        runtime=growing(240),
    params:
        **calling(
            "densevse.models.embedding:assign_regions",
            lambda dataset, variant, round: Job(
                {"round": round, "threads": project.threads(dataset)}, training.modules(dataset, variant)
            ),
        ),
    message:
        "assigning regions: {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}, round {wildcards.round}"
    script:
        RUNNER


rule correspondence_accuracy:
    input:
        correspondences=rules.correspond.output[0],
        boxes="<results>/{dataset}/boxes.parquet",
        regions=path("<results>/{dataset}/features/{network}/regions-{proposer}/{shard}.parquet", training.regions),
    output:
        "<results>/{dataset}/models/{variant}/seed{seed}/round{round}/correspondence_accuracy.parquet",
    log:
        "<logs>/correspondence_accuracy/{dataset}_{variant}_seed{seed}_round{round}.log",
    wildcard_constraints:
        round=r"[1-9]\d*",
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(20),
    params:
        **calling("densevse.evaluation.correspondence_accuracy:write_accuracy", training.accuracy_job),
    message:
        "checking regions: {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}, round {wildcards.round}"
    script:
        RUNNER
