"""Fits and samples with SDV's PARSynthesizer, and says in one JSON line how long it took.

    with_sdv.py fit    METADATA DATA MODEL SYNTHETIC --epochs N --context COLUMN ...
    with_sdv.py sample MODEL --sequences N --length ROWS
    with_sdv.py load   MODEL
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from common import Columns, answer, median_timed, read_table, timed
from sdv.metadata import Metadata
from sdv.sequential import PARSynthesizer
from sdv.utils import load_synthesizer

SEED = 7


def fit(arguments: argparse.Namespace) -> dict[str, float]:
    """Fits, saves, and writes as many sequences as were fitted."""
    columns = Columns.read(arguments.metadata)
    table = read_table(arguments.data, columns)
    metadata = Metadata.load_from_json(arguments.metadata)
    synthesizer = PARSynthesizer(metadata, context_columns=arguments.context, epochs=arguments.epochs, cuda=False)
    found = timed(lambda: synthesizer.fit({next(iter(metadata.tables)): table}))
    synthesizer.save(arguments.model)
    sampled(synthesizer, table[columns.key].nunique()).to_csv(arguments.synthetic, index=False)
    return found


def sample(arguments: argparse.Namespace) -> dict[str, float]:
    synthesizer = load_synthesizer(arguments.model)
    sampled(synthesizer, 1, 1)  # what is done once alone does not count
    found = median_timed(lambda: sampled(synthesizer, arguments.sequences, arguments.length))
    return found | {"rows": arguments.sequences * arguments.length}


def load(arguments: argparse.Namespace) -> dict[str, float]:
    """And the first row, in a process that has imported everything already."""
    return timed(lambda: sampled(load_synthesizer(arguments.model), 1, 1))


def sampled(synthesizer: PARSynthesizer, sequences: int, length: int | None = None):
    (table,) = synthesizer.sample_sequences(sequences, sequence_length=length).values()
    return table


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, required=True)
    commands = parser.add_subparsers(required=True)
    for command, files in {
        fit: ["metadata", "data", "model", "synthetic"],
        sample: ["model"],
        load: ["model"],
    }.items():
        part = commands.add_parser(command.__name__)
        part.set_defaults(command=command)
        for name in files:
            part.add_argument(name, type=Path)
        if command is fit:
            part.add_argument("--epochs", type=int, required=True)
            part.add_argument("--context", nargs="*", default=[])
        if command is sample:
            part.add_argument("--sequences", type=int, required=True)
            part.add_argument("--length", type=int, required=True)
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(SEED)
    np.random.seed(SEED)
    answer(arguments)


if __name__ == "__main__":
    main()
