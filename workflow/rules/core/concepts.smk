# SCO's concepts: a network that tells them, its scores as views of images, and how right these are.


rule train_concept_head:
    input:
        images="<results>/{dataset}/images.parquet",
        concepts=rules.mine_concepts.output.concepts,
        image_concepts=rules.mine_concepts.output.image_concepts,
        regions=concepts.regions,
    output:
        weights="<results>/{dataset}/networks/{concept_network}.safetensors",
        history="<results>/{dataset}/networks/{concept_network}_history.parquet",
        classes="<results>/{dataset}/networks/{concept_network}_classes.txt",
    log:
        "<logs>/train_concept_head/{dataset}_{concept_network}.log",
    wildcard_constraints:
        concept_network=concepts.trained("head"),
    conda:
        "../../../envs/torch.yaml"
    threads: datasets.threads
    resources:
        mem_mb=4000,
        runtime=120,
        gpu=settings.gpu,
    params:
        code=code_of("train_concept_head.py"),
        training=concepts.training,
    message:
        "training the last layer of {wildcards.concept_network} on {wildcards.dataset}"
    script:
        "../../scripts/train_concept_head.py"


rule train_concept_network:
    input:
        unpack(datasets.sources),
        image_table="<results>/{dataset}/images.parquet",
        concepts=rules.mine_concepts.output.concepts,
        image_concepts=rules.mine_concepts.output.image_concepts,
        start=concepts.backbone_weights,
    output:
        weights="<results>/{dataset}/networks/{concept_network}.safetensors",
        history="<results>/{dataset}/networks/{concept_network}_history.parquet",
        classes="<results>/{dataset}/networks/{concept_network}_classes.txt",
    log:
        "<logs>/train_concept_network/{dataset}_{concept_network}.log",
    wildcard_constraints:
        concept_network=concepts.trained("all"),
    conda:
        "../../../envs/torch.yaml"
    threads: datasets.threads
    resources:
        mem_mb=8000,
        runtime=1440,
        gpu=settings.gpu,
    params:
        code=concepts.code_of_training,
        network=concepts.backbone_settings,
        sources=datasets.source_names,
        training=concepts.training,
    message:
        "training all of {wildcards.concept_network} on {wildcards.dataset}"
    script:
        "../../scripts/train_concept_network.py"


rule score_concepts:
    input:
        regions=concepts.regions_of_shard,
        weights=concepts.weights,
    output:
        concepts="<results>/{dataset}/features/{concept_network}/concepts/{shard}.parquet",
        concepts_whole="<results>/{dataset}/features/{concept_network}/concepts_whole/{shard}.parquet",
    log:
        "<logs>/score_concepts/{dataset}_{concept_network}_{shard}.log",
    conda:
        "../../../envs/torch.yaml"
    threads: datasets.threads
    resources:
        mem_mb=4000,
    params:
        code=code_of("score_concepts.py"),
        train=concepts.how,
        threads=datasets.threads,
    message:
        "concepts of {wildcards.dataset} by {wildcards.concept_network}, shard {wildcards.shard}"
    script:
        "../../scripts/score_concepts.py"
