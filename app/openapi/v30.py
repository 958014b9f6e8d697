"""The document in OpenAPI 3.0, for generators that do not read 3.1 yet.

3.1 uses JSON Schema 2020-12, 3.0 a dialect of its own. Only the keywords that this service's document has are
translated; a keyword that 3.0 does not have is an error here, before a generator meets it.
"""

from typing import Any

__all__ = ["as_openapi_30"]

_UNKNOWN = frozenset({"prefixItems", "patternProperties", "$defs", "if", "unevaluatedProperties", "contentMediaType"})


def as_openapi_30(built: dict[str, Any]) -> dict[str, Any]:
    """The same document in OpenAPI 3.0.3.

    Raises:
        ValueError: if it uses a keyword of JSON Schema that 3.0 does not have.
    """
    translated: dict[str, Any] = _translate(built)
    return {**translated, "openapi": "3.0.3"}


def _translate(node: Any) -> Any:
    if isinstance(node, list):
        return [_translate(value) for value in node]
    if not isinstance(node, dict):
        return node
    if _is_schema(node):
        return _schema(node)
    # An example is data: nothing in it is a schema.
    return {key: value if key == "example" else _translate(value) for key, value in node.items()}


def _is_schema(node: dict[str, Any]) -> bool:
    return isinstance(node.get("type"), str | list) or any(
        isinstance(node.get(word), kind)
        for word, kind in (("const", str), ("$ref", str), ("oneOf", list), ("anyOf", list), ("enum", list))
    )


def _schema(node: dict[str, Any]) -> dict[str, Any]:
    if unknown := _UNKNOWN & node.keys():
        raise ValueError(f"OpenAPI 3.0 does not know {sorted(unknown)}")
    if isinstance(node.get("type"), list):
        raise ValueError(f"OpenAPI 3.0 does not know several types at once: {node['type']}")  # noqa: TRY004 - what the document says is wrong, not what it is
    if "$ref" in node:
        beside = {key: value for key, value in node.items() if key != "$ref"}
        reference = {"$ref": node["$ref"]}
        # 3.0 ignores what stands beside a reference.
        return {"allOf": [reference], **beside} if beside else reference
    made: dict[str, Any] = {}
    for key, value in node.items():
        match key:
            case "const":
                made["enum"] = [value]
            case "exclusiveMinimum" | "exclusiveMaximum":
                made[key.replace("exclusiveM", "m")] = value
                made[key] = True
            case "examples":
                made["example"] = value[0]
            case "default" | "enum" | "example" | "required":
                made[key] = value
            case "properties":
                made[key] = {name: _translate(schema) for name, schema in value.items()}
            case _:
                made[key] = _translate(value)
    return made
