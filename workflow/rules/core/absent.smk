# Missing paths of the configuration. This is included last, as it depends on the paths that the rules before it make.
import gc

# Rules and settings stay until the end, so Python's collector need not visit them again: a quarter of a dry run's time.
gc.freeze()

tables.check_table_names(makers.rule_names)

start.run.doubt()


# The target of `densevse adopt` without targets.
rule adopt:
    input:
        start.run.files_to_adopt,


# Is planned if a target needs such a path, and never runs: see densevse/dag/targets.py.
rule absent:
    output:
        local("{absent}"),
    wildcard_constraints:
        absent=own_files.absent_pattern(makers.rule_names),
    localrule: True
    conda:
        "../../../envs/base.yaml"
    params:
        refusal=from_wildcards(own_files.refuse),
    message:
        "looking for {wildcards.absent}"


targets = UnknownTargets(
    project,
    Known(
        rules=lambda: [rule.name for rule in workflow.rules if not rule.has_wildcards()],
        patterns=makers.patterns(),
        makes=lambda path: any(rule != "unknown" for rule in makers.rule_names(path)),
    ),
)


# Is planned if a target of that name is requested, and never runs: see densevse/dag/targets.py.
rule unknown:
    output:
        "{unknown}",
    wildcard_constraints:
        unknown=targets.unknown_pattern([*own_files.paths(), *exchange.files()]),
    localrule: True
    conda:
        "../../../envs/base.yaml"
    params:
        refusal=from_wildcards(targets.refuse),
    message:
        "looking for {wildcards.unknown}"
