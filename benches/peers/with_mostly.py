"""Fits and samples with MOSTLY AI's engine, and says in one JSON line how long it took.

    with_mostly.py fit      METADATA DATA WORKSPACE SYNTHETIC --epochs N --context COLUMN ...
    with_mostly.py sample   METADATA DATA WORKSPACE --epochs N --sequences N --context COLUMN ...
    with_mostly.py lengthen METADATA DATA OUTPUT --sequences N --length ROWS --context COLUMN ...

The engine wants the context of the sequences it makes: it is given rows of the real context, drawn with replacement.
"""

import argparse
import shutil
from pathlib import Path

import pandas as pd
import torch
from common import Columns, answer, median_timed, read_table, timed
from mostlyai import engine

SEED = 7
ENCODINGS = {
    "categorical": "TABULAR_CATEGORICAL",
    "numerical": "TABULAR_NUMERIC_AUTO",
    "datetime": "TABULAR_DATETIME",
}


class Trained:
    """A workspace of the engine with a trained model, and the tables it was trained on."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        columns = Columns.read(arguments.metadata)
        table = read_table(arguments.data, columns)
        for name, sdtype in columns.sdtypes.items():
            if sdtype == "datetime":
                table[name] = pd.to_datetime(table[name])
        table[columns.key] = table[columns.key].astype(str)
        if columns.index:
            table = table.sort_values([columns.key, columns.index], kind="stable")
        encodings = {name: ENCODINGS[sdtype] for name, sdtype in columns.sdtypes.items() if name != columns.key}
        if columns.index and columns.sdtypes[columns.index] == "datetime":
            encodings[columns.index] = "TABULAR_DATETIME_RELATIVE"
        self.key, self.names, self.workspace = columns.key, list(table.columns), arguments.workspace
        self.context = table.groupby(columns.key, sort=False)[arguments.context].first().reset_index()
        self.context = self.context.rename(columns={columns.key: "id"})
        shutil.rmtree(self.workspace, ignore_errors=True)
        of_context = {name: encodings.pop(name) for name in arguments.context}
        self.fit = timed(lambda: self.train(table, encodings, of_context, arguments))

    def train(self, table: pd.DataFrame, encodings: dict, of_context: dict, arguments: argparse.Namespace) -> None:
        engine.split(
            workspace_dir=self.workspace,
            tgt_data=table.drop(columns=arguments.context),
            tgt_context_key=self.key,
            tgt_encoding_types=encodings,
            ctx_data=self.context,
            ctx_primary_key="id",
            ctx_encoding_types=of_context,
        )
        engine.analyze(workspace_dir=self.workspace)
        engine.encode(workspace_dir=self.workspace)
        engine.train(workspace_dir=self.workspace, max_epochs=arguments.epochs, device="cpu")

    def drawn_context(self, sequences: int) -> pd.DataFrame:
        drawn = self.context.sample(sequences, replace=True, random_state=SEED).reset_index(drop=True)
        drawn["id"] = [f"s{number}" for number in range(sequences)]
        return drawn

    def generate(self, context: pd.DataFrame) -> None:
        engine.generate(workspace_dir=self.workspace, ctx_data=context, device="cpu")

    def generated(self) -> pd.DataFrame:
        return pd.read_parquet(self.workspace / "SyntheticData")


def fit(arguments: argparse.Namespace) -> dict[str, float]:
    """Fits, and writes as many sequences as were fitted."""
    trained = Trained(arguments)
    context = trained.drawn_context(len(trained.context))
    trained.generate(context)
    table = trained.generated().merge(context.rename(columns={"id": trained.key}), on=trained.key, how="left")
    table[trained.names].to_csv(arguments.synthetic, index=False)
    return trained.fit


def sample(arguments: argparse.Namespace) -> dict[str, float]:
    trained = Trained(arguments)
    context = trained.drawn_context(arguments.sequences)
    found = median_timed(lambda: trained.generate(context))
    return found | {"rows": len(trained.generated())}


def lengthen(arguments: argparse.Namespace) -> dict[str, float]:
    """Writes a table of so many long sequences: the given ones on end, round and round, each from another one on."""
    return timed(lambda: lengthened(arguments).to_csv(arguments.output, index=False))


def lengthened(arguments: argparse.Namespace) -> pd.DataFrame:
    columns = Columns.read(arguments.metadata)
    given = [sequence for _, sequence in pd.read_csv(arguments.data).groupby(columns.key, sort=False)]
    made = []
    for number in range(arguments.sequences):
        parts, rows, shift = [], 0, 0
        while rows < arguments.length:
            part = given[(number * 7 + len(parts)) % len(given)]
            parts.append(part.assign(**{columns.index: part[columns.index] + shift}))
            rows, shift = rows + len(part), parts[-1][columns.index].iloc[-1] + 30
        sequence = pd.concat(parts).head(arguments.length)
        same = {name: sequence[name].iloc[0] for name in arguments.context}
        made.append(sequence.assign(**same, **{columns.key: number}))
    return pd.concat(made)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, required=True)
    commands = parser.add_subparsers(required=True)
    for command, files in {
        fit: ["metadata", "data", "workspace", "synthetic"],
        sample: ["metadata", "data", "workspace"],
        lengthen: ["metadata", "data", "output"],
    }.items():
        part = commands.add_parser(command.__name__)
        part.set_defaults(command=command)
        for name in files:
            part.add_argument(name, type=Path)
        part.add_argument("--context", nargs="*", default=[])
        if command is lengthen:
            part.add_argument("--length", type=int, required=True)
        else:
            part.add_argument("--epochs", type=float, required=True)
        if command is not fit:
            part.add_argument("--sequences", type=int, required=True)
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    torch.set_num_threads(arguments.threads)
    engine.set_random_state(SEED)
    answer(arguments)


if __name__ == "__main__":
    main()
