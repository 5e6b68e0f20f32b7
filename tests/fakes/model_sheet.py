"""The response of ``GET /v1/models/ID``."""

from tests.fakes.model_rules import ModelRules
from tests.fakes.script import Json


def model_sheet(rules: ModelRules) -> Json:
    """A model's entry in the models API, made from the rules the server enforces."""
    yes, no = {"supported": True}, {"supported": False}
    web = {"supported": rules.web_search}
    kinds = ("adaptive", "between_tools", "disabled", "enabled")
    effort = {"supported": rules.effort} | {
        level: {"supported": rules.effort} for level in ("low", "medium", "high", "xhigh", "max")
    }
    return {
        "type": "model",
        "id": rules.name,
        "display_name": rules.name.replace("-", " ").title(),
        "created_at": "2026-01-01T00:00:00Z",
        "deprecated_at": None,
        "retires_at": rules.retires,
        "lifecycle": rules.lifecycle,
        "line": rules.name.split("-")[1],
        "max_input_tokens": rules.max_input,
        "max_tokens": rules.max_tokens,
        "capabilities": {
            "batch": yes,
            "citations": {"supported": rules.citations},
            "code_execution": no,
            "context_management": no,
            "effort": effort,
            "image_input": yes,
            "pdf_input": yes,
            "server_tools": {**web, "code_execution": no, "web_search": web},
            "structured_outputs": {"supported": rules.structured},
            "thinking": {
                "supported": True,
                "types": {kind: {"supported": kind in rules.thinking} for kind in kinds},
            },
        },
    }
