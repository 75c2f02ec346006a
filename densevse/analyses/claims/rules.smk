# Claims of papers: a table of every claim on a data set, and one of those that rows of its main table test.

from densevse.analyses.claims import dag
from densevse.analyses.claims.settings import ClaimSettings

claims = analyses.add(dag)
papers = settings.analysis(ClaimSettings).root


rule claims_table:
    input:
        images=["<results>/{dataset}/images.parquet"],
        captions=["<results>/{dataset}/captions.parquet"],
        retrievals=path(
            "<results>/{dataset}/retrieval/{protocol}/{variant}/seed{seed}/round{round}.parquet", claims.evidence
        ),
    output:
        **table_files("<results>/tables/{dataset}_claims", "claims.rst", table="{dataset}, claims"),
    log:
        "<logs>/claims_table/{dataset}.log",
    wildcard_constraints:
        dataset=claims.claimed_datasets(),
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        **calling("densevse.analyses.claims.table:make_claims_table", claims.job),
    message:
        "writing the table of claims on {wildcards.dataset}"
    script:
        RUNNER


use rule claims_table as main_claims_table with:
    input:
        images=["<results>/{dataset}/images.parquet"],
        captions=["<results>/{dataset}/captions.parquet"],
        retrievals=path(
            "<results>/{dataset}/retrieval/{protocol}/{variant}/seed{seed}/round{round}.parquet", claims.main_evidence
        ),
    output:
        **table_files(
            "<results>/tables/{dataset}_main_claims",
            "claims.rst",
            table="{dataset}, claims between rows of its main table",
        ),
    log:
        "<logs>/claims_table/{dataset}_main.log",
    params:
        **calling("densevse.analyses.claims.table:make_claims_table", claims.main_job),
    message:
        "writing the table of claims that rows of the main table of {wildcards.dataset} test"


# A controlled experiment: what it asks, and the claims that answer it, on all of its data sets.
use rule claims_table as experiment with:
    input:
        images=path(
            "<results>/{dataset}/images.parquet",
            lambda experiment: [{"dataset": name} for name in papers[experiment].datasets],
        ),
        captions=path(
            "<results>/{dataset}/captions.parquet",
            lambda experiment: [{"dataset": name} for name in papers[experiment].datasets],
        ),
        retrievals=path(
            "<results>/{dataset}/retrieval/{protocol}/{variant}/seed{seed}/round{round}.parquet",
            claims.experiment_evidence,
        ),
    output:
        **table_files(
            "<results>/experiments/{experiment}", "claims.rst", experiment="{experiment}", category="Experiments"
        ),
    log:
        "<logs>/experiment/{experiment}.log",
    wildcard_constraints:
        experiment=name_pattern(name for name, one in papers.items() if one.question),
    params:
        **calling("densevse.analyses.claims.table:make_claims_table", claims.experiment_job),
    message:
        "writing the page of the experiment {wildcards.experiment}"
