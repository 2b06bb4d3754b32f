"""What the peers' scripts share: a table as both want it, repeated timing, and the one JSON line they answer with."""

import contextlib
import json
import os
import statistics
import sys
import time
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

MOST_RUNS = 3
ENOUGH_SECS = 60  # no further run is begun after that


@dataclass(frozen=True)
class Columns:
    """What the columns of a table are."""

    key: str
    index: str | None
    sdtypes: dict[str, str]

    @classmethod
    def read(cls, metadata: Path) -> "Columns":
        """From SDV's `V1` metadata of one table."""
        (table,) = json.loads(metadata.read_text())["tables"].values()
        sdtypes = {name: column["sdtype"] for name, column in table["columns"].items()}
        return cls(table["sequence_key"], table.get("sequence_index"), sdtypes)


def read_table(data: Path, columns: Columns) -> pd.DataFrame:
    """Categories as text, which is what they are; numbers as floats."""
    table = pd.read_csv(data, low_memory=False)
    for name, sdtype in columns.sdtypes.items():
        if sdtype == "categorical":
            table[name] = table[name].map(category)
        if sdtype == "numerical":
            table[name] = table[name].astype(float)
    return table


def category(value: object) -> str | None:
    if pd.isna(value):
        return None
    return f"{value:g}" if isinstance(value, float) else str(value)


def timed(work: Callable[[], object]) -> dict[str, float]:
    """Seconds by the clock, and of all processors together."""
    started, processor = time.perf_counter(), processor_secs()
    work()
    return {"wall_secs": time.perf_counter() - started, "processor_secs": processor_secs() - processor}


def processor_secs() -> float:
    """Of this process and of those it started and waited for."""
    return sum(os.times()[:4])


def median_timed(work: Callable[[], object]) -> dict[str, float]:
    """The medians of up to three runs; fewer where they are slow."""
    runs: list[dict[str, float]] = []
    while len(runs) < MOST_RUNS and sum(run["wall_secs"] for run in runs) < ENOUGH_SECS:
        runs.append(timed(work))
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keeps stdout for the answer."""
    warnings.filterwarnings("ignore")
    with contextlib.redirect_stdout(sys.stderr):
        yield


def answer(arguments: Namespace) -> None:
    with quiet():
        found = arguments.command(arguments)
    print(json.dumps(found))
