# Curves of training.

from densevse.analyses.training_curves.dag import TrainingCurveStage

training_curves = analyses.add(TrainingCurveStage(project))


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
        code=code_of("analyses/training_curves/training_curves.py"),
        plan=planned(training_curves.plan_of_curves),
    message:
        "drawing the course of training on {wildcards.dataset}"
    script:
        f"{ROOT}/workflow/scripts/analyses/training_curves/training_curves.py"
