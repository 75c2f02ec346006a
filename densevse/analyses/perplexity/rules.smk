# Perplexity of sentences by SCO's decoder, given the right image or another one.

from densevse.analyses.perplexity import dag

perplexity = analyses.add(dag)


use rule retrieve as measure_perplexity with:
    output:
        "<results>/{dataset}/perplexity/{variant}/seed{seed}/round{round}/{split}.parquet",
    log:
        "<logs>/measure_perplexity/{dataset}_{variant}_seed{seed}_round{round}_{split}.log",
    wildcard_constraints:
        split="train|val|test",
    params:
        **calling("densevse.analyses.perplexity.measuring:write_likelihoods", training.model_job),
    message:
        "perplexity of {wildcards.split}: {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}, round {wildcards.round}"


rule perplexity_table:
    input:
        images="<results>/{dataset}/images.parquet",
        found=path(
            "<results>/{dataset}/perplexity/{variant}/seed{seed}/round{round}/{split}.parquet",
            perplexity.measured_rounds,
        ),
    output:
        **table_files("<results>/tables/{dataset}_perplexity", "perplexity.rst", table="{dataset}: perplexity"),
    log:
        "<logs>/perplexity_table/{dataset}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        **calling("densevse.analyses.perplexity.table:make_perplexity_table", perplexity.job),
    message:
        "writing the table of perplexity on {wildcards.dataset}"
    script:
        RUNNER
