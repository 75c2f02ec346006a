# Synthetic data sets in which attention must find a few marked cells. They are read like features from elsewhere.

from densevse.analyses.needles.settings import NeedlesSettings
from densevse.dag.fields import dump_entry

needles_by_name = settings.analysis(NeedlesSettings).root


rule make_needles:
    output:
        precomp=directory("<results>/needles/{needles}/precomp"),
        whole="<results>/needles/{needles}/whole.npy",
        ids="<results>/needles/{needles}/ids.txt",
    log:
        "<logs>/make_needles/{needles}.log",
    wildcard_constraints:
        needles=name_pattern(needles_by_name),
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(1000),
    params:
        **calling(
            "densevse.analyses.needles.world:generate",
            lambda needles: Job({"options": dump_entry(needles_by_name[needles])}),
        ),
    message:
        "making the needles {wildcards.needles}"
    script:
        RUNNER
