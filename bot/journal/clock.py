"""The database's clock in SQL, so that replicas whose own clocks differ agree on claims."""

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


class Now(FunctionElement[float]):
    """Seconds since 1970, by the clock of the database."""

    name = "database_now"
    type = sa.Float()
    inherit_cache = True


@compiles(Now, "sqlite")
def _of_sqlite(_now: Now, _compiler: SQLCompiler, **_: object) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(Now, "postgresql")
def _of_postgresql(_now: Now, _compiler: SQLCompiler, **_: object) -> str:
    return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS DOUBLE PRECISION)"
