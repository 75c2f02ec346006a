# Synthetic data sets in which attention must find a few marked cells. They are read like features from elsewhere.

from densevse.analyses.needles.dag import NeedlesStage

needles = analyses.add(NeedlesStage(project))


rule make_needles:
    output:
        precomp=directory("<results>/needles/{needles}/precomp"),
        whole="<results>/needles/{needles}/whole.npy",
        ids="<results>/needles/{needles}/ids.txt",
    log:
        "<logs>/make_needles/{needles}.log",
    wildcard_constraints:
        needles=needles.names(),
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(1000),
    params:
        **calling("densevse.analyses.needles.world:generate", needles.job),
    message:
        "making the needles {wildcards.needles}"
    script:
        RUNNER
