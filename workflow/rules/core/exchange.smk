# Carried models: an export is a folder in results; an imported model is below resources/carried/, and its files replace
# those of a training. Its records are compared like Snakemake's.

from densevse.carry.dag import CarriedStage

carried = CarriedStage(project)


ruleorder: use_carried_model > train
ruleorder: use_carried_model > train_round
ruleorder: use_carried_vocabulary > count_words
ruleorder: use_carried_vocabulary > count_relations
ruleorder: use_carried_vocabulary > count_tags
ruleorder: use_carried_vocabulary > pick_word_vectors


rule export_model:
    input:
        model="<model>/round{round}/model.safetensors",
        history="<model>/round{round}/history.parquet",
        vocabularies=path("<results>/{dataset}/vocabulary/{vocabulary}.parquet", carried.vocabularies_of),
        images="<results>/{dataset}/images.parquet",
        captions="<results>/{dataset}/captions.parquet",
        retrieval=path(
            "<results>/{dataset}/retrieval/{protocol}/{variant}/seed{seed}/round{round}.parquet", carried.protocol
        ),
    output:
        directory("<results>/{dataset}/exported/{variant}/seed{seed}/round{round}"),
    log:
        "<logs>/export_model/{dataset}_{variant}_seed{seed}_round{round}.log",
    conda:
        "../../../envs/torch.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        code=code_of("export_model.py"),
        settings=configured(carried.settings),
        described=configured(carried.described),
        plan=planned(carried.plan),
    message:
        "exporting {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}, round {wildcards.round}"
    script:
        "../../scripts/export_model.py"


rule use_carried_model:
    input:
        records=local_path("<resources>/carried/{carried_model}/records.json"),
        model=local_path("<resources>/carried/{carried_model}/model.safetensors"),
        history=local_path("<resources>/carried/{carried_model}/history.parquet"),
    output:
        model="<results>/{carried_model}/model.safetensors",
        history="<results>/{carried_model}/history.parquet",
    log:
        "<logs>/use_carried_model/{carried_model}.log",
    wildcard_constraints:
        carried_model=carried.models(),
    localrule: True
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=500,
    params:
        code=code_of("use_carried_model.py"),
        records=contents_of("<resources>/carried/{carried_model}/records.json"),
        model=contents_of("<resources>/carried/{carried_model}/model.safetensors"),
        history=contents_of("<resources>/carried/{carried_model}/history.parquet"),
        settings=configured(carried.settings_here),
    message:
        "using the imported model {wildcards.carried_model}"
    script:
        "../../scripts/use_carried_model.py"


rule use_carried_vocabulary:
    input:
        records=local_path("<resources>/carried/{carried_model}/records.json", carried.vocabulary),
        file=local_path("<resources>/carried/{carried_model}/vocabulary/{file}.parquet", carried.vocabulary),
    output:
        "<results>/{carried_vocabulary}.parquet",
    log:
        "<logs>/use_carried_vocabulary/{carried_vocabulary}.log",
    wildcard_constraints:
        carried_vocabulary=carried.vocabularies(),
    localrule: True
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=500,
    params:
        code=code_of("use_carried_vocabulary.py"),
        contents=contents_of("<resources>/carried/{carried_model}/vocabulary/{file}.parquet", carried.vocabulary),
    message:
        "using the vocabulary {wildcards.carried_vocabulary}, which came with an imported model"
    script:
        "../../scripts/use_carried_vocabulary.py"
