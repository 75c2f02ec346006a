# Scores of generated captions, their baselines, oracles of them, and pictures.

from typing import get_args

from densevse.analyses.caption_scores import dag
from densevse.analyses.caption_scores.settings import NO_ORACLE, CaptionScoreSettings, Oracle

caption_scores = analyses.add(dag)
known_parts = name_pattern([NO_ORACLE, *get_args(Oracle)])
caption_tables = settings.analysis(CaptionScoreSettings)


# The baselines of generated sentences.
rule copy_captions:
    input:
        train=path(
            "<results>/{dataset}/embeddings/{variant}/seed{seed}/round{round}/train.parquet",
            lambda dataset, seed: project.last_round(dataset, caption_tables.dataset_entry(dataset).neighbour, seed),
        ),
        asked=path(
            "<results>/{dataset}/embeddings/{variant}/seed{seed}/round{round}/{split}.parquet",
            lambda dataset, seed: project.last_round(dataset, caption_tables.dataset_entry(dataset).neighbour, seed),
        ),
        captions="<results>/{dataset}/captions.parquet",
        tokens="<results>/{dataset}/tokens.parquet",
    output:
        "<results>/{dataset}/generated_captions/copied/seed{seed}/{split}.parquet",
    log:
        "<logs>/copy_captions/{dataset}_seed{seed}_{split}.log",
    wildcard_constraints:
        split="val|test",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(4000),
    params:
        **calling("densevse.analyses.caption_scores.baselines:copy_captions"),
    message:
        "sentences of the nearest training images: {wildcards.split} of {wildcards.dataset}, seed {wildcards.seed}"
    script:
        RUNNER


rule first_captions:
    input:
        images="<results>/{dataset}/images.parquet",
        captions="<results>/{dataset}/captions.parquet",
        tokens="<results>/{dataset}/tokens.parquet",
    output:
        "<results>/{dataset}/generated_captions/person/seed0/{split}.parquet",
    log:
        "<logs>/first_captions/{dataset}_{split}.log",
    wildcard_constraints:
        split="train|val|test",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        **calling("densevse.analyses.caption_scores.baselines:write_first_captions"),
    message:
        "the first sentence of each image: {wildcards.split} of {wildcards.dataset}"
    script:
        RUNNER


rule oracle_captions:
    input:
        unpack(generators.inputs_of_captions),
        model="<results>/{dataset}/generators/{generator}/seed{seed}/model.safetensors",
    output:
        translation="<results>/{dataset}/generated_captions/{generator}_{oracle}_translation/seed{seed}/{split}.parquet",
        likelihood="<results>/{dataset}/generated_captions/{generator}_{oracle}_likelihood/seed{seed}/{split}.parquet",
        joint_likelihood="<results>/{dataset}/generated_captions/{generator}_{oracle}_joint_likelihood/seed{seed}/{split}.parquet",
    log:
        "<logs>/oracle_captions/{dataset}_{generator}_{oracle}_seed{seed}_{split}.log",
    wildcard_constraints:
        oracle=known_parts,
        split="val|test",
    conda:
        f"{ENVS}/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        **settings.accelerator,
        mem_mb=growing(datasets.memory(4000, 130)),
        runtime=growing(240),
    params:
        **calling("densevse.analyses.caption_scores.oracles:write_oracle_captions", caption_scores.oracle_job),
    message:
        "sentences about {wildcards.split}: {wildcards.generator} on {wildcards.dataset}, told {wildcards.oracle}, seed {wildcards.seed}"
    script:
        RUNNER


rule best_captions:
    input:
        captions="<results>/{dataset}/captions.parquet",
        generated=rules.oracle_captions.output.translation,
    output:
        "<results>/{dataset}/generated_captions/{generator}_{oracle}_best/seed{seed}/{split}.parquet",
    log:
        "<logs>/best_captions/{dataset}_{generator}_{oracle}_seed{seed}_{split}.log",
    wildcard_constraints:
        oracle=known_parts,
        split="val|test",
    conda:
        f"{ENVS}/corenlp.yaml"
    resources:
        mem_mb=growing(3000),
    params:
        **calling("densevse.analyses.caption_scores.scores:choose_best_sentences"),
    message:
        "the best sentences about {wildcards.split}: {wildcards.generator} on {wildcards.dataset}, told {wildcards.oracle}, seed {wildcards.seed}"
    script:
        RUNNER


# Like get_corenlp, an edit of its code is no reason to obtain the jars again.
rule get_spice:
    input:
        project=path("<project>/envs/spice/pom.xml"),
    output:
        directory("<resources>/spice"),
    log:
        "<logs>/get_spice.log",
    localrule: True
    conda:
        f"{ENVS}/corenlp.yaml"
    resources:
        mem_mb=1000,
    params:
        **calling_once("densevse.language.corenlp_jars:get_jars"),
        contents=contents_of("<project>/envs/spice/pom.xml"),
    message:
        "obtaining CoreNLP 3.6.0 and Nashorn for SPICE"
    script:
        RUNNER


rule score_captions:
    input:
        images="<results>/{dataset}/images.parquet",
        captions="<results>/{dataset}/captions.parquet",
        generated="<results>/{dataset}/generated_captions/{writer}/seed{seed}/{split}.parquet",
        spice=path("<resources>/spice", when=caption_scores.needs_spice),
    output:
        "<results>/{dataset}/generated_captions/{writer}/seed{seed}/{split}_scores.parquet",
    log:
        "<logs>/score_captions/{dataset}_{writer}_seed{seed}_{split}.log",
    wildcard_constraints:
        writer=caption_scores.writers(),
        split="val|test",
    conda:
        f"{ENVS}/corenlp.yaml"
    resources:
        mem_mb=growing(lambda dataset, writer: 6000 if caption_scores.needs_spice(dataset, writer) else 3000),
        runtime=growing(120),
    params:
        **calling("densevse.analyses.caption_scores.scores:score_captions", caption_scores.scoring_job),
    message:
        "scoring the sentences of {wildcards.writer} about {wildcards.split} of {wildcards.dataset}, seed {wildcards.seed}"
    script:
        RUNNER


rule caption_table:
    input:
        scores=path(
            "<results>/{dataset}/generated_captions/{writer}/seed{seed}/test_scores.parquet",
            lambda dataset: [
                {"writer": name, "seed": seed}
                for name, one in caption_scores.compared_writers(dataset).items()
                for seed in one.seeds
            ],
        ),
        published=path(
            "<package>/analyses/caption_scores/published/{dataset}.csv", when=caption_scores.has_published_metrics
        ),
    output:
        **table_files("<results>/tables/{dataset}_captions", "captions.rst", table="{dataset}: generated sentences"),
    log:
        "<logs>/caption_table/{dataset}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(10),
    params:
        **calling("densevse.analyses.caption_scores.table:make_caption_table", caption_scores.table_job),
        contents=contents_of(
            "<package>/analyses/caption_scores/published/{dataset}.csv", when=caption_scores.has_published_metrics
        ),
    message:
        "writing the table of sentences about images of {wildcards.dataset}"
    script:
        RUNNER


rule caption_oracle_table:
    input:
        scores=path(
            "<results>/{dataset}/generated_captions/{writer}/seed{seed}/test_scores.parquet",
            caption_scores.measured_oracles,
        ),
    output:
        **table_files(
            "<results>/tables/{dataset}_caption_oracles", "caption_oracles.rst", table="{dataset}: caption oracles"
        ),
    log:
        "<logs>/caption_oracle_table/{dataset}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(10),
    params:
        **calling("densevse.analyses.caption_scores.oracle_table:make_oracle_table", caption_scores.oracle_table_job),
    message:
        "writing the table of caption oracles of {wildcards.dataset}"
    script:
        RUNNER


rule caption_oracle_means:
    input:
        scores=path(
            "<results>/{resplit}/generated_captions/{writer}/seed{seed}/test_scores.parquet",
            caption_scores.measured_resplits,
        ),
    output:
        **table_files(
            "<results>/tables/{dataset}_resplits_caption_oracles",
            "caption_oracles.rst",
            table="{dataset}, resplits: caption oracles",
        ),
    log:
        "<logs>/caption_oracle_means/{dataset}.log",
    wildcard_constraints:
        dataset=caption_scores.divided_datasets(),
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(10),
    params:
        **calling("densevse.analyses.caption_scores.oracle_table:make_oracle_means", caption_scores.oracle_means_job),
    message:
        "writing the means of caption oracles over resplits of {wildcards.dataset}"
    script:
        RUNNER


rule caption_figure:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.pictures),
        generated=path(
            "<results>/{dataset}/generated_captions/{writer}/seed{seed}/test.parquet",
            lambda dataset: [
                {"writer": name, "seed": one.seeds[0]}
                for name, one in caption_scores.compared_writers(dataset).items()
            ],
        ),
        image_table="<results>/{dataset}/images.parquet",
    output:
        report(
            "<results>/figures/{dataset}/captions.png",
            caption="captions.rst",
            category="Examples",
            labels={"data set": "{dataset}", "variant": "generated sentences"},
        ),
    log:
        "<logs>/caption_figure/{dataset}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(1500),
        runtime=growing(10),
    params:
        **calling("densevse.analyses.caption_scores.table:draw_captions", caption_scores.picture_job),
    message:
        "drawing generated sentences about images of {wildcards.dataset}"
    script:
        RUNNER
