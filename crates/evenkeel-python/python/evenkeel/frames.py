"""Columns for pandas, polars and pyarrow."""

from __future__ import annotations

from typing import Any

from evenkeel import _evenkeel


class Frame:
    """Named columns that other libraries take over without a copy, by Arrow's capsule protocol.

    ``polars.DataFrame(frame)`` and ``pyarrow.table(frame)`` take it as it is.
    """

    def __init__(self, compiled: _evenkeel.Frame) -> None:
        self._compiled = compiled

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return self._compiled.columns

    def __len__(self) -> int:
        return len(self._compiled)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._compiled.__arrow_c_stream__(requested_schema)

    def __getitem__(self, name: str) -> list[Any]:
        """The values of a column; ``None`` where nothing was measured."""
        return self._compiled.column(name)

    def to_arrow(self) -> Any:
        """A ``pyarrow.Table``."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame``; through pyarrow where it is installed."""
        import pandas

        try:
            return self.to_arrow().to_pandas()
        except ImportError:
            return pandas.DataFrame({name: self[name] for name in self.columns})

    def to_polars(self) -> Any:
        """A ``polars.DataFrame``."""
        import polars

        return polars.DataFrame(self)

    def to_frame(self) -> Any:
        """A data frame of whichever library is installed: pandas, else polars, else this object."""
        for convert in (self.to_pandas, self.to_polars):
            try:
                return convert()
            except ImportError:
                continue
        return self

    def __repr__(self) -> str:
        return f"<evenkeel.Frame: {len(self)} rows of {', '.join(self.columns)}>"


def frame_of(rows: list[dict[str, Any]]) -> Any:
    """Rows as a data frame of whichever library is installed; the rows themselves if there is none."""
    try:
        import pandas

        return pandas.DataFrame(rows)
    except ImportError:
        pass
    try:
        import polars

        return polars.DataFrame(rows)
    except ImportError:
        return rows
