# One rule trains every method; another continues from the round before. A method's configuration names its inputs.


rule train:
    input:
        unpack(training.inputs),
        start=path("<results>/{dataset}/models/{variant}/seed{seed}/round{round}/model.safetensors", training.origin),
        network=path("<resources>/{network}/{file}", training.first_weights),
    output:
        # In full, as Snakemake (9.27.1) does not constrain wildcards in path variables.
        model="<results>/{dataset}/models/{variant}/seed{seed}/round0/model.safetensors",
        history="<results>/{dataset}/models/{variant}/seed{seed}/round0/history.parquet",
    log:
        "<logs>/train/{dataset}_{variant}_seed{seed}_round0.log",
    wildcard_constraints:
        variant=name_pattern(name for name in settings.variant_names() if name not in settings.untrained_names()),
    priority: 1  # long, and most other jobs depend on it
    conda:
        "../../../envs/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        **settings.accelerator,
        mem_mb=growing(datasets.memory(3000, 170)),
        runtime=1440,
    params:
        **calling("densevse.training.retrieval:train", training.job),
        contents=contents_of("<resources>/{network}/{file}", training.first_weights),
    message:
        "training {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}"
    script:
        RUNNER


use rule train as train_round with:
    input:
        unpack(training.inputs),
        start=path(
            "<results>/{dataset}/models/{variant}/seed{seed}/round{round}/model.safetensors", training.previous_round
        ),
        correspondences=path(
            "<results>/{dataset}/models/{variant}/seed{seed}/round{round}/correspondences.parquet",
            project.round_correspondences,
        ),
    output:
        model="<results>/{dataset}/models/{variant}/seed{seed}/round{round}/model.safetensors",
        history="<results>/{dataset}/models/{variant}/seed{seed}/round{round}/history.parquet",
    log:
        "<logs>/train/{dataset}_{variant}_seed{seed}_round{round}.log",
    wildcard_constraints:
        round=r"[1-9]\d*",
    message:
        "training {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}, round {wildcards.round}"


# The model of a method without training is the sentence encoder of its views' network.
rule take_as_model:
    input:
        weights=path("<resources>/{network}/{file}", training.untrained_weights),
        tokenizer=path("<resources>/{network}/{file}", training.tokenizer),
    output:
        "<results>/{dataset}/models/{variant}/seed{seed}/round0/model.safetensors",
    log:
        "<logs>/take_as_model/{dataset}_{variant}_seed{seed}.log",
    wildcard_constraints:
        variant=name_pattern(settings.untrained_names()),
    conda:
        "../../../envs/torch.yaml"
    resources:
        mem_mb=growing(8000),
    params:
        **calling("densevse.models.untrained:write_untrained_model", training.untrained_job),
        contents=contents_of_each(
            weights=("<resources>/{network}/{file}", training.untrained_weights),
            tokenizer=("<resources>/{network}/{file}", training.tokenizer),
        ),
    message:
        "taking the network of {wildcards.variant} as its model on {wildcards.dataset}"
    script:
        RUNNER
