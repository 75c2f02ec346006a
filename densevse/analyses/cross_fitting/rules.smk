# Scores of training images' concepts by heads that were trained without these images, for SCO.

from densevse.analyses.cross_fitting import dag

cross_fitting = analyses.add(dag)


rule hold_out_fold:
    input:
        images="<results>/{dataset}/images.parquet",
    output:
        "<results>/cross_fitting/{dataset}/fold{fold}/images.parquet",
    log:
        "<logs>/hold_out_fold/{dataset}_fold{fold}.log",
    wildcard_constraints:
        dataset=cross_fitting.datasets(),
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        **calling("densevse.analyses.cross_fitting.folds:write_fold", cross_fitting.folds_job),
    message:
        "leaving fold {wildcards.fold} out of the training images of {wildcards.dataset}"
    script:
        RUNNER


use rule train_concept_head as train_fold_head with:
    input:
        images=rules.hold_out_fold.output[0],
        concepts=rules.mine_concepts.output.concepts,
        image_concepts=rules.mine_concepts.output.image_concepts,
        regions=path("<results>/{dataset}/features/{network}/regions-{proposer}/{shard}.parquet", concepts.regions),
    output:
        weights="<results>/cross_fitting/{dataset}/fold{fold}/{concept_network}.safetensors",
        history="<results>/cross_fitting/{dataset}/fold{fold}/{concept_network}_history.parquet",
        classes="<results>/cross_fitting/{dataset}/fold{fold}/{concept_network}_classes.txt",
    log:
        "<logs>/train_concept_head/{dataset}_{concept_network}_without_fold{fold}.log",
    message:
        "training the last layer of {wildcards.concept_network} on {wildcards.dataset} without fold {wildcards.fold}"


use rule score_concepts as score_with_fold_head with:
    input:
        regions=path(
            "<results>/{dataset}/features/{network}/regions-{proposer}/{shard}.parquet", concepts.regions_of_shard
        ),
        weights=rules.train_fold_head.output.weights,
    output:
        concepts="<results>/cross_fitting/{dataset}/fold{fold}/{concept_network}/concepts/{shard}.parquet",
        concepts_whole="<results>/cross_fitting/{dataset}/fold{fold}/{concept_network}/concepts_whole/{shard}.parquet",
    log:
        "<logs>/score_concepts/{dataset}_{concept_network}_without_fold{fold}_{shard}.log",
    message:
        "concepts of {wildcards.dataset} by the head without fold {wildcards.fold}, shard {wildcards.shard}"


rule cross_fit:
    input:
        images="<results>/{dataset}/images.parquet",
        image_concepts=rules.mine_concepts.output.image_concepts,
        of_all=path(
            "<results>/{dataset}/features/{concept_network}/concepts/{shard}.parquet",
            lambda dataset: project.shards(dataset),
        ),
        of_folds=path(
            "<results>/cross_fitting/{dataset}/fold{fold}/{concept_network}/concepts/{shard}.parquet",
            cross_fitting.fold_shards,
        ),
    output:
        scores="<results>/cross_fitting/{dataset}/{concept_network}/scores.npy",
        ids="<results>/cross_fitting/{dataset}/{concept_network}/ids.txt",
        precision="<results>/cross_fitting/{dataset}/{concept_network}/precision.parquet",
    log:
        "<logs>/cross_fit/{dataset}_{concept_network}.log",
    wildcard_constraints:
        dataset=cross_fitting.datasets(),
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        **calling("densevse.analyses.cross_fitting.folds:cross_fit", cross_fitting.folds_job),
    message:
        "cross-fitted concepts of {wildcards.dataset} by {wildcards.concept_network}"
    script:
        RUNNER


rule cross_fitting_table:
    input:
        precision=path("<results>/cross_fitting/{dataset}/{concept_network}/precision.parquet", cross_fitting.networks),
    output:
        **table_pages(
            "<results>/tables/{dataset}_cross_fitting", "cross_fitting.rst", table="cross-fitted concepts of {dataset}"
        ),
    log:
        "<logs>/cross_fitting_table/{dataset}.log",
    wildcard_constraints:
        dataset=cross_fitting.datasets(),
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        **calling(
            "densevse.analyses.cross_fitting.folds:write_cross_fitting_table",
            cross_fitting.table_job,
        ),
    message:
        "writing the table of the cross-fitted concepts of {wildcards.dataset}"
    script:
        RUNNER
