"""Name of a package -> its HTML templates, in which Jinja escapes every value."""

from collections.abc import Callable
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def open_templates(package: str, finalize: Callable[[Any], Any] | None = None) -> Environment:
    """Return the templates in the folder ``templates`` of ``package``, in a checkout or a wheel.

    A name that the caller did not pass is an error. ``finalize`` sees each value before it is
    escaped.
    """
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalize,
    )
