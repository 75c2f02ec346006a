# Curves of training.

from densevse.analyses.training_curves.dag import TrainingCurveStage

training_curves = analyses.add(TrainingCurveStage(project))


rule training_curves:
    input:
        histories=filled(
            "<results>/{dataset}/models/{variant}/seed{seed}/round{round}/history.parquet", training_curves.histories
        ),
    output:
        report(
            "<results>/figures/{dataset}/training_curves.svg",
            caption="../../report/training_curves.rst",
            category="Training",
            labels={"data set": "{dataset}"},
        ),
    log:
        "<logs>/training_curves/{dataset}.log",
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        code=code_of("analyses/training_curves/training_curves.py"),
        plan=planned(training_curves.plan_of_curves),
    message:
        "drawing the course of training on {wildcards.dataset}"
    script:
        "../../scripts/analyses/training_curves/training_curves.py"
