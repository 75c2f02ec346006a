# Curves of training.

from densevse.analyses.training_curves import dag

training_curves = analyses.add(dag)


rule training_curves:
    input:
        histories=path(
            "<results>/{dataset}/models/{variant}/seed{seed}/round{round}/history.parquet", training_curves.histories
        ),
    output:
        report(
            "<results>/figures/{dataset}/training_curves.svg",
            caption="training_curves.rst",
            category="Training",
            labels={"data set": "{dataset}"},
        ),
    log:
        "<logs>/training_curves/{dataset}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        **calling("densevse.analyses.training_curves.curves:draw_training_curves", training_curves.job),
    message:
        "drawing the course of training on {wildcards.dataset}"
    script:
        RUNNER
