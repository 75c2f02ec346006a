# How right people find learned correspondences: a ballot of pairs drawn at random, and their votes on it (HM-LSTM,
# section 5.3.2).


rule draw_ballot:
    input:
        correspondences=ballots.correspondences,
        parses=ballots.parses,
    output:
        "<results>/{dataset}/ballots/{variant}.parquet",
    log:
        "<logs>/draw_ballot/{dataset}_{variant}.log",
    wildcard_constraints:
        dataset=datasets.official(),
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=2000,
    params:
        code=code_of("analyses/votes/draw_ballot.py"),
        drawn=ballots.drawn,
    message:
        "drawing correspondences of {wildcards.variant} on {wildcards.dataset} for people to judge"
    script:
        "../../scripts/analyses/votes/draw_ballot.py"


rule ballot_page:
    input:
        unpack(datasets.sources),
        ballot="<results>/{dataset}/ballots/{variant}.parquet",
        image_table="<results>/{dataset}/images.parquet",
    output:
        html="<results>/{dataset}/ballots/{variant}.html",
        sheet="<results>/{dataset}/ballots/{variant}.csv",
    log:
        "<logs>/ballot_page/{dataset}_{variant}.log",
    wildcard_constraints:
        dataset=datasets.official(),
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=2000,
    params:
        code=code_of("analyses/votes/ballot_page.py"),
        sources=datasets.source_names,
        title=ballots.title_of_ballot,
    message:
        "writing the ballot of {wildcards.variant} on {wildcards.dataset}"
    script:
        "../../scripts/analyses/votes/ballot_page.py"


rule read_votes:
    input:
        text=ballots.votes,
        ballot="<results>/{dataset}/ballots/{variant}.parquet",
    output:
        "<results>/{dataset}/votes/{variant}.parquet",
    log:
        "<logs>/read_votes/{dataset}_{variant}.log",
    wildcard_constraints:
        dataset=datasets.official(),
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=1000,
    params:
        code=code_of("analyses/votes/read_votes.py"),
    message:
        "reading people's votes on the ballot of {wildcards.variant} on {wildcards.dataset}"
    script:
        "../../scripts/analyses/votes/read_votes.py"


rule vote_table:
    input:
        ballots=ballots.ballots_of_table,
        votes=ballots.votes_of_table,
        image_table="<results>/{dataset}/images.parquet",
        boxes=ballots.boxes,
        published=ballots.published,
    output:
        markdown="<results>/tables/{dataset}_votes.md",
        html=report(
            "<results>/tables/{dataset}_votes.html",
            caption="../../report/table.rst",
            category="Tables",
            labels={"table": "{dataset}: votes on correspondences"},
        ),
        csv="<results>/tables/{dataset}_votes.csv",
        parquet="<results>/tables/{dataset}_votes.parquet",
    log:
        "<logs>/vote_table/{dataset}.log",
    wildcard_constraints:
        dataset=datasets.official(),
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=1000,
    params:
        code=code_of("analyses/votes/vote_table.py"),
        settings=ballots.settings,
    message:
        "writing the table of votes on correspondences on {wildcards.dataset}"
    script:
        "../../scripts/analyses/votes/vote_table.py"
