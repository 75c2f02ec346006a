# Choices of the right sentence of an image among wrong ones. The sentences of questions, in results/choices/<name>/, go
# through the same stages as those of a data set.

from densevse.analyses.choices import dag
from densevse.analyses.choices.settings import PUBLISHED, ChoiceSettings

choices = analyses.add(dag)
asked_names = list(settings.analysis(ChoiceSettings).root)


rule change_scenes:
    input:
        scenes=path("<resources>/{dataset}/{file}", choices.scenes),
        image_table=path("<results>/{dataset}/images.parquet", choices.asked_dataset),
    output:
        questions="<results>/{dataset}/questions.parquet",
        captions="<results>/{dataset}/captions.parquet",
    log:
        "<logs>/change_scenes/{dataset}.log",
    wildcard_constraints:
        dataset=name_pattern(choices.folders(["grammar"])),
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(1000),
    params:
        **calling("densevse.analyses.choices.making:change_scenes", choices.making_job),
        contents=contents_of("<resources>/{dataset}/{file}", choices.scenes),
    message:
        "making sentences that are wrong of scenes"
    script:
        RUNNER


rule change_orders:
    input:
        parses=path("<results>/{dataset}/{parses}/{parser}/{shard}.parquet", choices.parses),
        image_table=path("<results>/{dataset}/images.parquet", choices.asked_dataset),
        caption_table=path("<results>/{dataset}/captions.parquet", choices.asked_dataset),
    output:
        questions="<results>/{dataset}/questions.parquet",
        captions="<results>/{dataset}/captions.parquet",
    log:
        "<logs>/change_orders/{dataset}.log",
    wildcard_constraints:
        dataset=name_pattern(choices.folders(["orders"])),
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        **calling("densevse.analyses.choices.making:change_orders", choices.ordering_job),
    message:
        "putting the words of sentences into other orders: {wildcards.dataset}"
    script:
        RUNNER


rule read_choices:
    input:
        file=path("{own_file}", choices.own_files),
        image_table=path("<results>/{dataset}/images.parquet", choices.asked_dataset),
    output:
        questions="<results>/{dataset}/questions.parquet",
        captions="<results>/{dataset}/captions.parquet",
    log:
        "<logs>/read_choices/{dataset}.log",
    wildcard_constraints:
        dataset=name_pattern(choices.folders(["parquet"])),
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(1000),
    params:
        **calling("densevse.analyses.choices.published:read_own_choices"),
        contents=contents_of("{own_file}", choices.own_files),
    message:
        "reading your questions: {wildcards.dataset}"
    script:
        RUNNER


rule read_published_choices:
    input:
        files=path("{own_file}", choices.own_files),
    output:
        questions="<results>/{dataset}/questions.parquet",
        captions="<results>/{dataset}/captions.parquet",
        images="<results>/{dataset}/images.parquet",
        pictures="<results>/{dataset}/pictures.zip",
    log:
        "<logs>/read_published_choices/{dataset}.log",
    wildcard_constraints:
        dataset=name_pattern(choices.folders(PUBLISHED)),
    conda:
        f"{ENVS}/base.yaml"
    threads: 2
    resources:
        mem_mb=growing(2000),
    params:
        **calling("densevse.analyses.choices.published:read_published_choices", choices.reading_job),
        contents=contents_of("{own_file}", choices.own_files),
    message:
        "reading the questions and pictures of a benchmark: {wildcards.dataset}"
    script:
        RUNNER


rule score_choices:
    input:
        unpack(choices.model_inputs),
        model=path(
            "<results>/{dataset}/models/{variant}/seed{seed}/round{round}/model.safetensors", training.trained_model
        ),
        questions="<results>/{dataset}/questions.parquet",
        known_captions=path("<results>/{dataset}/captions.parquet", choices.asked_dataset),
    output:
        "<results>/{dataset}/choice_scores/{variant}/seed{seed}/round{round}.parquet",
    log:
        "<logs>/score_choices/{dataset}_{variant}_seed{seed}_round{round}.log",
    wildcard_constraints:
        dataset=name_pattern(choices.folders(["grammar", "orders", "parquet", *PUBLISHED])),
    conda:
        f"{ENVS}/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        **settings.accelerator,
        mem_mb=growing(4000),
    params:
        **calling("densevse.analyses.choices.scoring:score_choices", choices.scoring_job),
    message:
        "scoring {wildcards.dataset}: {wildcards.variant}, seed {wildcards.seed}, round {wildcards.round}"
    script:
        RUNNER


rule choice_table:
    input:
        questions="<results>/choices/{asked}/questions.parquet",
        scores=path(
            "<results>/{dataset}/choice_scores/{variant}/seed{seed}/round{round}.parquet",
            choices.measured_rounds,
        ),
    output:
        **table_files("<results>/tables/{asked}_choices", "choices.rst", table="{asked}: choices"),
    log:
        "<logs>/choice_table/{asked}.log",
    wildcard_constraints:
        asked=name_pattern(asked_names),
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(1000),
    params:
        **calling("densevse.analyses.choices.table:make_choice_table", choices.table_job),
    message:
        "writing the table of choices {wildcards.asked}"
    script:
        RUNNER
