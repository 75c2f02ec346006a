# True concepts of images with noise: what SCO's fusion makes of concepts that are as good as one wishes.

from densevse.analyses.oracle_concepts.settings import OracleConceptsSettings

oracles = settings.analysis(OracleConceptsSettings).root


rule oracle_concepts:
    input:
        concepts=path(
            "<results>/{dataset}/vocabulary/concepts.parquet", lambda oracle: {"dataset": oracles[oracle].dataset}
        ),
        image_concepts=path(
            "<results>/{dataset}/vocabulary/image_concepts.parquet",
            lambda oracle: {"dataset": oracles[oracle].dataset},
        ),
    output:
        scores="<results>/oracle_concepts/{oracle}/scores.npy",
        ids="<results>/oracle_concepts/{oracle}/ids.txt",
    log:
        "<logs>/oracle_concepts/{oracle}.log",
    wildcard_constraints:
        oracle=name_pattern(oracles),
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=1000,
    params:
        **calling(
            "densevse.analyses.oracle_concepts.oracle:write_oracle",
            lambda oracle: Job({"wanted": oracles[oracle].mean_average_precision, "seed": oracles[oracle].seed}),
        ),
    message:
        "making the oracle concepts {wildcards.oracle}"
    script:
        RUNNER
