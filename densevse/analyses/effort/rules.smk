# Equal effort: draws of settings for every row at one number of steps, a shortlist on val, a choice by further seeds of
# val, and trainings with test seeds.

from densevse.analyses.effort import dag

effort = analyses.add(dag)


use rule train as train_draw with:
    output:
        model="<results>/{dataset}/effort/{variant}/{draw}/seed{seed}/round0/model.safetensors",
        history="<results>/{dataset}/effort/{variant}/{draw}/seed{seed}/round0/history.parquet",
    log:
        "<logs>/train_draw/{dataset}_{variant}_{draw}_seed{seed}.log",
    wildcard_constraints:
        dataset=effort.datasets(),
        draw=r"draw\d+",
    params:
        **calling("densevse.training.retrieval:train", effort.draw_job),
        contents=contents_of("<resources>/{network}/{file}", training.first_weights),
    message:
        "training {wildcards.draw} of {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}"


use rule train as train_shortlist with:
    input:
        unpack(training.inputs),
        start=path("<results>/{dataset}/models/{variant}/seed{seed}/round{round}/model.safetensors", training.origin),
        network=path("<resources>/{network}/{file}", training.first_weights),
        histories=path("<results>/{dataset}/effort/{variant}/{draw}/seed{seed}/round0/history.parquet", effort.draws),
    output:
        "<results>/{dataset}/effort/{variant}/shortlist/seed{seed}.parquet",
    log:
        "<logs>/train_shortlist/{dataset}_{variant}_seed{seed}.log",
    wildcard_constraints:
        dataset=effort.datasets(),
    params:
        **calling("densevse.analyses.effort.training:train_shortlist", effort.shortlist_job),
        contents=contents_of("<resources>/{network}/{file}", training.first_weights),
    message:
        "training the shortlist of {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}"


rule choose_draw:
    input:
        histories=path("<results>/{dataset}/effort/{variant}/{draw}/seed{seed}/round0/history.parquet", effort.draws),
        shortlists=path("<results>/{dataset}/effort/{variant}/shortlist/seed{seed}.parquet", effort.shortlists),
    output:
        "<results>/{dataset}/effort/{variant}/choice/seed{seed}.parquet",
    log:
        "<logs>/choose_draw/{dataset}_{variant}_seed{seed}.log",
    wildcard_constraints:
        dataset=effort.datasets(),
    conda:
        f"{ENVS}/torch.yaml"
    resources:
        mem_mb=growing(1500),
        runtime=growing(10),
    params:
        **calling("densevse.analyses.effort.choice:choose_draw", effort.choice_job),
    message:
        "choosing among the draws of {wildcards.variant} on {wildcards.dataset}, first seed {wildcards.seed}"
    script:
        RUNNER


use rule train as train_chosen with:
    input:
        unpack(training.inputs),
        start=path("<results>/{dataset}/models/{variant}/seed{seed}/round{round}/model.safetensors", training.origin),
        network=path("<resources>/{network}/{file}", training.first_weights),
        choice=path("<results>/{dataset}/effort/{variant}/choice/seed{seed}.parquet", effort.choice),
    output:
        model="<results>/{dataset}/effort/{variant}/{draw}/seed{seed}/round0/model.safetensors",
        history="<results>/{dataset}/effort/{variant}/{draw}/seed{seed}/round0/history.parquet",
    log:
        "<logs>/train_chosen/{dataset}_{variant}_{draw}_seed{seed}.log",
    wildcard_constraints:
        dataset=effort.datasets(),
        draw=r"as_\w+",
    params:
        **calling("densevse.analyses.effort.training:train_chosen_draw", effort.chosen_job),
        contents=contents_of("<resources>/{network}/{file}", training.first_weights),
    message:
        "training {wildcards.variant} {wildcards.draw} on {wildcards.dataset}, seed {wildcards.seed}"


use rule retrieve as retrieve_draw with:
    input:
        unpack(training.inputs),
        model="<results>/{dataset}/effort/{variant}/{draw}/seed{seed}/round{round}/model.safetensors",
    output:
        "<results>/{dataset}/effort/{variant}/{draw}/seed{seed}/round{round}/{protocol}.parquet",
    log:
        "<logs>/retrieve_draw/{dataset}_{protocol}_{variant}_{draw}_seed{seed}_round{round}.log",
    wildcard_constraints:
        dataset=effort.datasets(),
        draw=r"draw\d+|as_\w+",
    message:
        "retrieval: {wildcards.draw} of {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}"


rule effort:
    input:
        images="<results>/{dataset}/images.parquet",
        captions="<results>/{dataset}/captions.parquet",
        choices=path("<results>/{dataset}/effort/{variant}/choice/seed{seed}.parquet", effort.choices),
        tested=path(
            "<results>/{dataset}/effort/{variant}/{draw}/seed{seed}/round{round}/{protocol}.parquet",
            effort.tested_retrievals,
        ),
    output:
        **table_files("<results>/tables/{dataset}_effort", "effort.rst", table="{dataset}, equal effort"),
    log:
        "<logs>/effort/{dataset}.log",
    wildcard_constraints:
        dataset=effort.datasets(),
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        **calling("densevse.analyses.effort.table:make_effort_table", effort.table_job),
    message:
        "writing the table of equal effort on {wildcards.dataset}"
    script:
        RUNNER
