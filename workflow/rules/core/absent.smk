# Missing paths of the configuration. This is included last, as it depends on the paths that the rules before it make.

tables.check_names(makers.of)

start.run.doubt()


# The target of `densevse adopt` without targets.
rule adopt:
    input:
        start.run.adopted,


# Is planned if a target needs such a path, and never runs: see densevse/dag/targets.py.
rule absent:
    output:
        local("{absent}"),
    wildcard_constraints:
        absent=own_files.absent(makers.of),
    localrule: True
    conda:
        "../../../envs/base.yaml"
    params:
        refusal=configured(own_files.refuse),
    message:
        "looking for {wildcards.absent}"


targets = TargetStage(
    project,
    Known(
        rules=lambda: [rule.name for rule in workflow.rules if not rule.has_wildcards()],
        patterns=makers.patterns(),
        makes=lambda path: any(rule != "unknown" for rule in makers.of(path)),
    ),
)


# Is planned if a target of that name is requested, and never runs: see densevse/dag/targets.py.
rule unknown:
    output:
        "{unknown}",
    wildcard_constraints:
        unknown=targets.unknown([*own_files.paths(), *exchange.files()]),
    localrule: True
    conda:
        "../../../envs/base.yaml"
    params:
        refusal=configured(targets.refuse),
    message:
        "looking for {wildcards.unknown}"
