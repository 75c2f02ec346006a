# The results of a trained method: the ranks of the test images and sentences, one row for each query, from which all
# tables are computed; and the embeddings of a split, which figures and searches read.


rule retrieve:
    input:
        unpack(training.inputs),
        model="<model>/round{round}/model.safetensors",
    output:
        "<results>/{dataset}/retrieval/{protocol}/{variant}/seed{seed}/round{round}.parquet",
    log:
        "<logs>/retrieve/{dataset}_{protocol}_{variant}_seed{seed}_round{round}.log",
    conda:
        "../../../envs/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        **settings.accelerator,
        mem_mb=growing(datasets.memory(3000, 40)),
    params:
        **calling(
            "densevse.models.retrieval:retrieve_test",
            lambda dataset, variant: Job(project.ranking(dataset), training.modules(dataset, variant)),
        ),
    message:
        "retrieval: {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}, round {wildcards.round}"
    script:
        RUNNER


rule retrieve_by_ensemble:
    input:
        unpack(ensembles.inputs),
        models=path("<results>/{dataset}/models/{variant}/seed{seed}/round{round}/model.safetensors", ensembles.models),
        given=path("{own_file}", ensembles.given_files),
    output:
        "<results>/{dataset}/retrieval/{protocol}/{ensemble}/seed{seed}/ensemble.parquet",
    log:
        "<logs>/retrieve_by_ensemble/{dataset}_{protocol}_{ensemble}_seed{seed}.log",
    conda:
        "../../../envs/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        **settings.accelerator,
        mem_mb=growing(datasets.memory(7000, 40)),
    params:
        **calling("densevse.models.ensembles:retrieve_by_ensemble", ensembles.job),
        contents=contents_of("{own_file}", ensembles.given_files),
    message:
        "retrieval: the ensemble {wildcards.ensemble} on {wildcards.dataset}, seed {wildcards.seed}"
    script:
        RUNNER


# The vectors of a given row that an encoder in a folder makes.
rule encode_test_split:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.pictures),
        image_table="<results>/{dataset}/images.parquet",
        caption_table="<results>/{dataset}/captions.parquet",
        folder=path("{own_file}", features.encoder_folder),
    output:
        "<results>/{dataset}/vectors/{network}.safetensors",
    log:
        "<logs>/encode_test_split/{dataset}_{network}.log",
    wildcard_constraints:
        network=name_pattern(name for name, one in settings.networks.items() if one.folder),
    conda:
        "../../../envs/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        **settings.accelerator,
        mem_mb=growing(8000),
        runtime=growing(240),
    params:
        **calling("densevse.models.folder_vectors:encode_test_split", features.encoding_job),
        contents=contents_of("{own_file}", features.encoder_folder),
    message:
        "vectors of the test split of {wildcards.dataset} by {wildcards.network}"
    script:
        RUNNER


rule retrieve_given:
    input:
        image_table="<results>/{dataset}/images.parquet",
        caption_table="<results>/{dataset}/captions.parquet",
        scores=path("{own_file}", partial(rows.given_file, "scores")),
        i2t=path("{own_file}", partial(rows.given_file, "i2t")),
        t2i=path("{own_file}", partial(rows.given_file, "t2i")),
        images=path("{own_file}", partial(rows.given_file, "images")),
        sentences=path("{own_file}", partial(rows.given_file, "sentences")),
        image_ids=path("{own_file}", partial(rows.given_file, "image_ids")),
        caption_ids=path("{own_file}", partial(rows.given_file, "caption_ids")),
    output:
        "<results>/{dataset}/retrieval/{protocol}/{variant}/seed{seed}/given.parquet",
    log:
        "<logs>/retrieve_given/{dataset}_{protocol}_{variant}_seed{seed}.log",
    wildcard_constraints:
        variant=name_pattern(settings.given_rows()),
    conda:
        "../../../envs/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        mem_mb=growing(2000),
    params:
        **calling("densevse.evaluation.given.retrieval:write_given_retrieval", rows.given_job),
        contents=contents_of("{own_file}", rows.given_files),
    message:
        "retrieval: {wildcards.variant}, which is given, on {wildcards.dataset}, seed {wildcards.seed}"
    script:
        RUNNER


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
    threads: from_wildcards(project.threads)
    resources:
        **settings.accelerator,
        mem_mb=growing(8000),
    params:
        **calling("densevse.models.embedding:embed_split", training.model_job),
    message:
        "embedding {wildcards.split}: {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}, round {wildcards.round}"
    script:
        RUNNER
