"""The JSON schema of the configuration, for editors: `make schema` writes it to config/schema.json.

It describes files that override some keys as well as an entry's own file (`schema.json#/$defs/Dataset`). So it says
what each key may hold, but not which keys an entry needs; the workflow checks that when it reads everything.
"""

import json
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from densevse.config.config import config_type
from densevse.config.datasets import PARSERS
from densevse.config.methods import GENERATOR_MODELS, MODELS
from densevse.config.proposers import PROPOSERS
from densevse.config.readers import READERS


class Choice(NamedTuple):
    """A key whose type another key of the same entry decides."""

    entry: str
    by: str
    field: str
    types: Mapping[str, Any]


def document() -> dict[str, Any]:
    """The schema."""
    schema: dict[str, Any] = _drop_required_keys(config_type().model_json_schema())
    for entry, by, field, types in choices():
        found = schema["$defs"][entry]
        found["properties"][field] = {"type": "object", "description": f"see `{by}`"}
        found["allOf"] = [_choice(by, name, field, types[name]) for name in sorted(types)]
    # A file that overrides a title matches both a trained method and a given row, so it need not match exactly one.
    rows = schema["properties"]["methods"]["additionalProperties"]
    rows["anyOf"] = rows.pop("oneOf")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def choices() -> list[Choice]:
    """The keys whose type another key of the entry decides, such as `options` of a data set by its `reader`."""
    return [
        Choice("Dataset", "reader", "options", READERS),
        Choice("Proposer", "kind", "options", PROPOSERS),
        Choice("ParserConfig", "kind", "options", PARSERS),
        Choice("MethodEntry", "model", "parameters", MODELS),
        Choice("GeneratorEntry", "model", "parameters", GENERATOR_MODELS),
    ]


def _choice(by: str, name: str, field: str, kind: Any) -> dict[str, Any]:
    """The type of the field `field` if the field `by` is `name`."""
    return {
        "if": {"properties": {by: {"const": name}}, "required": [by]},
        "then": {"properties": {field: _drop_required_keys(kind.model_json_schema())}},
    }


def _drop_required_keys(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {key: _drop_required_keys(value) for key, value in schema.items() if key != "required"}
    return [_drop_required_keys(item) for item in schema] if isinstance(schema, list) else schema


if __name__ == "__main__":
    sys.stdout.write(json.dumps(document(), indent=2, sort_keys=True) + "\n")
