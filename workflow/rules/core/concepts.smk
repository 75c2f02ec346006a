# SCO's concepts: the networks that predict them, and their scores as views of images.


rule train_concept_head:
    input:
        images="<results>/{dataset}/images.parquet",
        concepts=rules.mine_concepts.output.concepts,
        image_concepts=rules.mine_concepts.output.image_concepts,
        regions=path("<results>/{dataset}/features/{network}/regions-{proposer}/{shard}.parquet", concepts.regions),
    output:
        weights="<results>/{dataset}/networks/{concept_network}.safetensors",
        history="<results>/{dataset}/networks/{concept_network}_history.parquet",
        classes="<results>/{dataset}/networks/{concept_network}_classes.txt",
    log:
        "<logs>/train_concept_head/{dataset}_{concept_network}.log",
    wildcard_constraints:
        concept_network=name_pattern(name for name, one in settings.concept_networks.items() if one.train == "head"),
    conda:
        "../../../envs/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        **settings.accelerator,
        mem_mb=growing(4000),
        runtime=120,
    params:
        **calling("densevse.training.concepts:train_concept_head", concepts.head_job),
    message:
        "training the last layer of {wildcards.concept_network} on {wildcards.dataset}"
    script:
        RUNNER


rule train_concept_network:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.pictures),
        image_table="<results>/{dataset}/images.parquet",
        concepts=rules.mine_concepts.output.concepts,
        image_concepts=rules.mine_concepts.output.image_concepts,
        start=path(
            "<resources>/{network}/{file}",
            lambda dataset, concept_network: features.network_weights(features.backbone(dataset, concept_network)),
        ),
    output:
        weights="<results>/{dataset}/networks/{concept_network}.safetensors",
        history="<results>/{dataset}/networks/{concept_network}_history.parquet",
        classes="<results>/{dataset}/networks/{concept_network}_classes.txt",
    log:
        "<logs>/train_concept_network/{dataset}_{concept_network}.log",
    wildcard_constraints:
        concept_network=name_pattern(name for name, one in settings.concept_networks.items() if one.train == "all"),
    conda:
        "../../../envs/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        **settings.accelerator,
        mem_mb=growing(8000),
        runtime=1440,
    params:
        **calling("densevse.training.concepts:train_concept_network", concepts.network_job),
        contents=contents_of(
            "<resources>/{network}/{file}",
            lambda dataset, concept_network: features.network_weights(features.backbone(dataset, concept_network)),
        ),
    message:
        "training all of {wildcards.concept_network} on {wildcards.dataset}"
    script:
        RUNNER


rule score_concepts:
    input:
        regions=path(
            "<results>/{dataset}/features/{network}/regions-{proposer}/{shard}.parquet", concepts.regions_of_shard
        ),
        weights=path(
            "<results>/{dataset}/networks/{concept_network}.safetensors",
            lambda dataset: {"dataset": project.training_dataset(dataset)},
        ),
    output:
        concepts="<results>/{dataset}/features/{concept_network}/concepts/{shard}.parquet",
        concepts_whole="<results>/{dataset}/features/{concept_network}/concepts_whole/{shard}.parquet",
    log:
        "<logs>/score_concepts/{dataset}_{concept_network}_{shard}.log",
    conda:
        "../../../envs/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        mem_mb=growing(4000),
    params:
        **calling(
            "densevse.models.concepts:score_concepts",
            lambda dataset, concept_network: Job(
                {"train": settings.concept_networks[concept_network].train, "threads": project.threads(dataset)}
            ),
        ),
    message:
        "concepts of {wildcards.dataset} by {wildcards.concept_network}, shard {wildcards.shard}"
    script:
        RUNNER
