# True concepts of images with noise: what SCO's fusion makes of concepts that are as good as one wishes.

from densevse.analyses.oracle_concepts.dag import OracleConceptsStage

oracles = analyses.add(OracleConceptsStage(project))


rule oracle_concepts:
    input:
        concepts=path("<results>/{dataset}/vocabulary/concepts.parquet", oracles.source),
        image_concepts=path("<results>/{dataset}/vocabulary/image_concepts.parquet", oracles.source),
    output:
        scores="<results>/oracle_concepts/{oracle}/scores.npy",
        ids="<results>/oracle_concepts/{oracle}/ids.txt",
    log:
        "<logs>/oracle_concepts/{oracle}.log",
    wildcard_constraints:
        oracle=oracles.names(),
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=1000,
    params:
        **calling("densevse.analyses.oracle_concepts.oracle:write_oracle", oracles.job),
    message:
        "making the oracle concepts {wildcards.oracle}"
    script:
        RUNNER
