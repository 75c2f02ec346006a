# The agreement of methods' scores with people's judgements of pairs of an image and a sentence, if these are known.

from densevse.analyses.human_judgements import dag
from densevse.analyses.human_judgements.settings import JudgementSettings

human_judgements = analyses.add(dag)
judged = [name for name, one in settings.analysis(JudgementSettings).items() if one.source]
scored = [name for _, one in settings.analysis(JudgementSettings).items() for name in one.scored]


rule read_judgements:
    input:
        text=path("<resources>/{dataset}/{file}", human_judgements.source),
        images="<results>/{dataset}/images.parquet",
        captions="<results>/{dataset}/captions.parquet",
    output:
        "<results>/{dataset}/judgements.parquet",
    log:
        "<logs>/read_judgements/{dataset}.log",
    wildcard_constraints:
        dataset=name_pattern(judged),
    priority: 10  # it fails if the files are missing, and should do so before any training
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(1000),
    params:
        **calling("densevse.analyses.human_judgements.judgements:write_judgements"),
        contents=contents_of("<resources>/{dataset}/{file}", human_judgements.source),
    message:
        "reading people's judgements of {wildcards.dataset}"
    script:
        RUNNER


rule score_pairs:
    input:
        unpack(training.inputs),
        model="<model>/round{round}/model.safetensors",
        judgements="<results>/{dataset}/judgements.parquet",
    output:
        pairs="<results>/{dataset}/pair_scores/{variant}/seed{seed}/round{round}.parquet",
        ranks="<results>/{dataset}/crowd_ranks/{variant}/seed{seed}/round{round}.parquet",
    log:
        "<logs>/score_pairs/{dataset}_{variant}_seed{seed}_round{round}.log",
    conda:
        f"{ENVS}/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        **settings.accelerator,
        mem_mb=growing(4000),
    params:
        **calling("densevse.analyses.human_judgements.pair_scores:write_pair_scores", training.encoded_test_job),
    message:
        "scoring judged pairs: {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}, round {wildcards.round}"
    script:
        RUNNER


rule score_given_pairs:
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
        judgements="<results>/{dataset}/judgements.parquet",
    output:
        pairs="<results>/{dataset}/pair_scores/{variant}/seed{seed}/given.parquet",
        ranks="<results>/{dataset}/crowd_ranks/{variant}/seed{seed}/given.parquet",
    log:
        "<logs>/score_given_pairs/{dataset}_{variant}_seed{seed}.log",
    wildcard_constraints:
        variant=name_pattern(settings.given_rows()),
    conda:
        f"{ENVS}/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        mem_mb=growing(2000),
    params:
        **calling(
            "densevse.analyses.human_judgements.pair_scores:write_given_pair_scores",
            lambda dataset, variant: Job(
                {name: rows.given_job(dataset, variant).settings[name] for name in ("layout", "ranked_sentences")}
            ),
        ),
        contents=contents_of("{own_file}", rows.given_files),
    message:
        "scoring judged pairs: {wildcards.variant}, which is given, on {wildcards.dataset}, seed {wildcards.seed}"
    script:
        RUNNER


rule read_scored_pairs:
    input:
        scores=path("{own_file}", human_judgements.scores_file),
        captions="<results>/{dataset}/captions.parquet",
        judgements="<results>/{dataset}/judgements.parquet",
    output:
        "<results>/{dataset}/pair_scores/{variant}/seed{seed}/judged.parquet",
    log:
        "<logs>/read_scored_pairs/{dataset}_{variant}_seed{seed}.log",
    wildcard_constraints:
        variant=name_pattern(scored),
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(1000),
    params:
        **calling("densevse.analyses.human_judgements.scored_pairs:write_scored_pairs"),
        contents=contents_of("{own_file}", human_judgements.scores_file),
    message:
        "reading scores of judged pairs: {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}"
    script:
        RUNNER


rule agreement_table:
    input:
        judgements="<results>/{dataset}/judgements.parquet",
        scores=path(
            "<results>/{dataset}/pair_scores/{variant}/seed{seed}/round{round}.parquet",
            tables.last_rounds,
        ),
        given=path("<results>/{dataset}/pair_scores/{variant}/seed{seed}/given.parquet", human_judgements.given_rows),
        judged_only=path(
            "<results>/{dataset}/pair_scores/{variant}/seed{seed}/judged.parquet", human_judgements.scored_rows
        ),
        ranks=path(
            "<results>/{dataset}/crowd_ranks/{variant}/seed{seed}/round{round}.parquet",
            tables.last_rounds,
        ),
        given_ranks=path(
            "<results>/{dataset}/crowd_ranks/{variant}/seed{seed}/given.parquet", human_judgements.given_rows
        ),
        published=path("<package>/analyses/human_judgements/published/{dataset}.csv"),
    output:
        **table_files(
            "<results>/tables/{dataset}_human",
            f"{ROOT}/workflow/report/table.rst",
            table="{dataset}: agreement with people",
        ),
    log:
        "<logs>/agreement_table/{dataset}.log",
    wildcard_constraints:
        dataset=name_pattern(judged),
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(1000),
    params:
        **calling("densevse.analyses.human_judgements.table:make_agreement_table", human_judgements.job),
        contents=contents_of("<package>/analyses/human_judgements/published/{dataset}.csv"),
    message:
        "writing the table of agreement with people on {wildcards.dataset}"
    script:
        RUNNER
