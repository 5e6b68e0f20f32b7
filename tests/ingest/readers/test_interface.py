"""Descriptions of interfaces: an operation is a section, with the lines of the operation."""

import json

import pytest
import yaml

from ingest.readers.interface.interface_schema import MOST_COPIED
from ingest.readers.loader import UnreadableDocument, load
from tests.ingest.readers.test_loader import chunks_of, shown

SPEC = """\
openapi: 3.1.0
info:
  title: Relay
  version: "2.4"
  description: Moves messages.
servers:
  - url: https://relay.example/v1
security:
  - token: [read]
paths:
  /evictions/{id}:
    parameters:
      - $ref: '#/components/parameters/Id'
    get:
      operationId: getEviction
      summary: One eviction
      parameters:
        - {name: wait, in: query, schema: {type: integer, default: 30}, description: Seconds}
      responses:
        "200":
          description: Found
          content:
            application/json:
              schema: {$ref: '#/components/schemas/Eviction'}
        "404":
          $ref: '#/components/responses/Missing'
      security: []
    delete:
      summary: Stop it
      requestBody:
        required: true
        content:
          application/json:
            schema:
              required: [reason]
              properties:
                reason: {type: string, maxLength: 200, description: Why it stops}
      responses: {"204": {description: Stopped}}
components:
  parameters:
    Id: {name: id, in: path, required: true, schema: {type: string, format: uuid}}
  responses:
    Missing: {description: No such eviction}
  securitySchemes:
    token: {type: http, scheme: bearer}
  schemas:
    Eviction:
      required: [state]
      properties:
        state: {type: string, enum: [pending, done], description: Where it stands}
        parent: {$ref: '#/components/schemas/Eviction'}
"""
GET = """\
GET /evictions/{id}: One eviction
Operation getEviction
Parameters:
- wait (query, integer, default 30): Seconds
- id (path, string, required, format uuid)
Response 200 (application/json): Found
- state (string, required, one of pending | done): Where it stands
- parent (Eviction)
Response 404: No such eviction
Security: none"""


def test_an_operation_is_a_section_with_what_it_takes_and_gives() -> None:
    chunks = {chunk.heading[-1]: chunk for chunk in chunks_of("api/relay.yaml", SPEC)}
    assert list(chunks) == [
        "Relay",
        "GET /evictions/{id}: One eviction",
        "DELETE /evictions/{id}: Stop it",
        "Schema Eviction",
        "Security schemes",
    ]
    get = chunks["GET /evictions/{id}: One eviction"]
    assert (get.text, get.lines, get.title) == (GET, (14, 27), "Relay")
    delete = chunks["DELETE /evictions/{id}: Stop it"]
    assert "Body, required (application/json):\n- reason (string, required" in delete.text
    assert delete.lines == (28, 38)
    assert "https://relay.example/v1" in chunks["Relay"].text


@pytest.mark.parametrize("indent", [2, None])
def test_json_is_read_like_yaml(indent: int | None) -> None:
    chunks = chunks_of("relay.json", json.dumps(yaml.safe_load(SPEC), indent=indent))
    assert [chunk.text for chunk in chunks] == [c.text for c in chunks_of("relay.yml", SPEC)]
    first, last = chunks[1].lines
    assert (first, last) == (1, 1) if indent is None else first < last


def test_swagger_2_has_bodies_and_definitions() -> None:
    spec = {
        "swagger": "2.0",
        "host": "relay.example",
        "basePath": "/v1",
        "paths": {
            "/messages": {
                "post": {
                    "parameters": [
                        {"name": "m", "in": "body", "schema": {"$ref": "#/definitions/M"}}
                    ],
                    "responses": {"201": {"description": "Taken", "schema": {"type": "string"}}},
                }
            }
        },
        "definitions": {"M": {"properties": {"size": {"type": "integer", "maximum": 31}}}},
    }
    text = shown("relay.json", json.dumps(spec, indent=1))
    assert "- https://relay.example/v1" in text
    assert "POST /messages\nParameters:\n- m (body)\nBody: M\n- size (integer, maximum 31)" in text
    assert "Response 201: Taken" in text
    assert "Schema M\nFields:\n- size (integer, maximum 31)" in text


def test_asyncapi_has_channels_and_messages() -> None:
    second = (
        "asyncapi: 2.6.0\nchannels:\n  mail/evicted:\n    subscribe:\n      summary: Told of it\n"
        "      message:\n        payload: {properties: {id: {type: string}}}\n"
    )
    assert "SUBSCRIBE mail/evicted: Told of it\nMessage:\nFields:\n- id (string)" in shown(
        "a.yaml", second
    )
    third = (
        "asyncapi: 3.0.0\nchannels:\n  evicted:\n    address: mail/evicted\n    messages:\n"
        "      one: {name: Gone, payload: {properties: {id: {type: string}}}}\n"
        "operations:\n  onEvicted:\n    action: receive\n"
        "    channel: {$ref: '#/channels/evicted'}\n"
    )
    text = shown("a.yaml", third)
    assert "Channel mail/evicted\nMessage one: Gone\nFields:\n- id (string)" in text
    assert "RECEIVE mail/evicted\nOperation onEvicted" in text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("apiVersion: v1\nkind: Pod\n", "no page"),
        ('{"name": "relay", "openapi": true}', "no page"),
        ("spec:\n  openapi: 3.0.0\n", "no page"),
        ("openapi: 3.0.0\npaths: [\n", "malformed"),
        ("openapi: 3.0.0\npaths: " + "[" * 50_000, "malformed"),
    ],
)
def test_other_yaml_and_json_is_no_page(text: str, reason: str) -> None:
    with pytest.raises(UnreadableDocument, match=f"^{reason}: "):
        load("values.yaml", text.encode())


def test_references_that_lead_in_circles_or_nowhere_end() -> None:
    spec = (
        "openapi: 3.0.0\npaths:\n  /a: {$ref: '#/paths/~1a'}\n  /b:\n    get:\n      responses:\n"
        "        200: {content: {a/b: {schema: {$ref: '#/x'}}}}\nx: {allOf: [{$ref: '#/y'}]}\n"
        "y: {properties: {z: {items: {$ref: '#/x'}}}, anyOf: [{$ref: '#/nowhere'}]}\n"
    )
    assert "Response 200 (a/b): x\n- z (of x)" in shown("a.yaml", spec)


def test_a_schema_that_many_operations_name_is_not_copied_without_end() -> None:
    fields = "".join(f"        f{n}: {{type: string}}\n" for n in range(140))
    operation = (
        "  /p{n}:\n    get:\n      responses:\n        200:\n          description: ok\n"
        "          content: {{a/b: {{schema: {{$ref: '#/components/schemas/Big'}}}}}}\n"
    )
    paths = "".join(operation.format(n=n) for n in range(400))
    schemas = f"components:\n  schemas:\n    Big:\n      properties:\n{fields}"
    spec = f"openapi: 3.0.0\npaths:\n{paths}{schemas}"
    parsed = load("a.yaml", spec.encode()).parsed
    assert sum(line.startswith("- f") for line in parsed.lines) <= MOST_COPIED
    assert sum(line.startswith("GET ") for line in parsed.lines) == 400


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("parameters", "[{name: page, in: query, description: Number of the page.}]"),
        ("responses", "{200: {description: The page that was asked for.}}"),
        ("description", "'Returns the page that was asked for.'"),
    ],
)
def test_aliases_that_repeat_more_than_a_file_may_grow_make_no_page(key: str, value: str) -> None:
    """Operations may share what a file says once, but not hundreds of values each."""

    def described(operations: int, times: int) -> bytes:
        said = value[:-1] + "".join(
            f", {value[1:-1].replace('200', str(200 + n))}" for n in range(times)
        )
        shared = f"  /a: {{get: {{{key}: &shared {said}{value[-1]}}}}}\n"
        others = "".join(f"  /b{n}: {{get: {{{key}: *shared}}}}\n" for n in range(operations))
        return f"openapi: 3.0.0\npaths:\n{shared}{others}".encode()

    assert load("a.yaml", described(300, 1)).has_text
    with pytest.raises(UnreadableDocument, match="huge: its references and aliases"):
        load("a.yaml", described(1_000, 300))
