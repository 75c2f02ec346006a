# People's judgements of learned correspondences: a ballot of random pairs, and votes on it (HM-LSTM, section 5.3.2).

from densevse.analyses.votes import dag
from densevse.analyses.votes.settings import VoteSettings
from densevse.dag.fields import dump_fields

ballots = analyses.add(dag)


rule draw_ballot:
    input:
        correspondences=path(
            "<results>/{dataset}/models/{variant}/seed{seed}/round{round}/correspondences.parquet",
            ballots.correspondences,
        ),
        parses=path("<results>/{dataset}/parses/{parser}/{shard}.parquet", inputs.parse_shards),
    output:
        "<results>/{dataset}/ballots/{variant}.parquet",
    log:
        "<logs>/draw_ballot/{dataset}_{variant}.log",
    wildcard_constraints:
        dataset=name_pattern(name for name, one in settings.datasets.items() if not one.resplit),
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        **calling(
            "densevse.analyses.votes.ballot:draw_ballot",
            lambda dataset: Job(
                dump_fields(settings.analysis(VoteSettings).dataset_entry(dataset).ballot, ("pairs", "seed"))
            ),
        ),
    message:
        "drawing correspondences of {wildcards.variant} on {wildcards.dataset} for people to judge"
    script:
        RUNNER


rule ballot_page:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.pictures),
        ballot="<results>/{dataset}/ballots/{variant}.parquet",
        image_table="<results>/{dataset}/images.parquet",
    output:
        html="<results>/{dataset}/ballots/{variant}.html",
        sheet="<results>/{dataset}/ballots/{variant}.csv",
    log:
        "<logs>/ballot_page/{dataset}_{variant}.log",
    wildcard_constraints:
        dataset=name_pattern(name for name, one in settings.datasets.items() if not one.resplit),
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        **calling(
            "densevse.analyses.votes.ballot:write_ballot_page",
            lambda dataset, variant: Job(
                {
                    "title": f"Regions of phrases to judge: {project.variant(dataset, variant).title} "
                    f"on {project.datasets[dataset].title}",
                    "source_names": project.source_names(dataset),
                }
            ),
        ),
    message:
        "writing the ballot of {wildcards.variant} on {wildcards.dataset}"
    script:
        RUNNER


rule read_votes:
    input:
        text=path("{own_file}", ballots.votes_file),
        ballot="<results>/{dataset}/ballots/{variant}.parquet",
    output:
        "<results>/{dataset}/votes/{variant}.parquet",
    log:
        "<logs>/read_votes/{dataset}_{variant}.log",
    wildcard_constraints:
        dataset=name_pattern(name for name, one in settings.datasets.items() if not one.resplit),
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(1000),
    params:
        **calling("densevse.analyses.votes.ballot:write_votes"),
        contents=contents_of("{own_file}", ballots.votes_file),
    message:
        "reading people's votes on the ballot of {wildcards.variant} on {wildcards.dataset}"
    script:
        RUNNER


rule vote_table:
    input:
        ballots=path("<results>/{dataset}/ballots/{variant}.parquet", ballots.voted_variants),
        votes=path("<results>/{dataset}/votes/{variant}.parquet", ballots.voted_variants),
        image_table="<results>/{dataset}/images.parquet",
        boxes=path(
            "<results>/{dataset}/boxes.parquet",
            when=lambda dataset: settings.datasets[dataset].phrases_have_boxes,
        ),
        published=path("<package>/analyses/votes/published/hm_lstm.csv"),
    output:
        **table_files(
            "<results>/tables/{dataset}_votes",
            f"{ROOT}/workflow/report/table.rst",
            table="{dataset}: votes on correspondences",
        ),
    log:
        "<logs>/vote_table/{dataset}.log",
    wildcard_constraints:
        dataset=name_pattern(name for name, one in settings.datasets.items() if not one.resplit),
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(1000),
    params:
        **calling("densevse.analyses.votes.table:make_vote_table", ballots.table_job),
        contents=contents_of("<package>/analyses/votes/published/hm_lstm.csv"),
    message:
        "writing the table of votes on correspondences on {wildcards.dataset}"
    script:
        RUNNER
