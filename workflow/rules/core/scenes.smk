# The generated data set: its pictures and sentences from a seed, and the training of its network, which comes with the
# project.


rule make_scenes:
    output:
        "<resources>/{dataset}/scenes.zip",
    log:
        "<logs>/make_scenes/{dataset}.log",
    wildcard_constraints:
        dataset=name_pattern(
            name
            for name, one in settings.datasets.items()
            if any(source.made_by == "make_scenes" for source in one.sources.values())
        ),
    conda:
        "../../../envs/base.yaml"
    threads: 8
    resources:
        mem_mb=growing(2000),
    params:
        **calling(
            "densevse.scenes.reader:generate", lambda dataset: Job({"options": datasets.reading(dataset)["options"]})
        ),
    message:
        "making the pictures and sentences of {wildcards.dataset}"
    script:
        RUNNER


rule train_network:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.pictures),
        image_table="<results>/{dataset}/images.parquet",
        box_table="<results>/{dataset}/boxes.parquet",
        class_names=path("<results>/{dataset}/networks/{network}_classes.txt", features.class_names),
    output:
        weights="<results>/{dataset}/networks/{network}.safetensors",
        history="<results>/{dataset}/networks/{network}_history.parquet",
    log:
        "<logs>/train_network/{dataset}-{network}.log",
    wildcard_constraints:
        network=name_pattern(name for name, one in settings.networks.items() if one.trained_on),
    priority: 1  # nearly everything depends on it
    conda:
        "../../../envs/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        **settings.accelerator,
        mem_mb=growing(3000),
    params:
        **calling("densevse.training.scenes:train_network", features.training_job),
        contents=contents_of("<results>/{dataset}/networks/{network}_classes.txt", features.class_names),
    message:
        "training the network {wildcards.network} on {wildcards.dataset}"
    script:
        RUNNER


rule release_network:
    input:
        trained="<results>/{dataset}/networks/{network}.safetensors",
        history="<results>/{dataset}/networks/{network}_history.parquet",
    output:
        weights="<results>/{dataset}/networks/released/{network}.safetensors",
        card="<results>/{dataset}/networks/released/{network}.md",
    log:
        "<logs>/release_network/{dataset}-{network}.log",
    wildcard_constraints:
        network=name_pattern(name for name, one in settings.networks.items() if one.trained_on),
    conda:
        "../../../envs/torch.yaml"
    resources:
        mem_mb=growing(1000),
    params:
        **calling("densevse.scenes.release:release"),
    message:
        "float16 weights and the model card of {wildcards.network}"
    script:
        RUNNER
