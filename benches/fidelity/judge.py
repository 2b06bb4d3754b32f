"""Judges how much a synthetic table of sequences is like the real one.

Every command prints one JSON object; progress and warnings are silent. `main.rs` beside it runs them all.

    judge.py split    METADATA DATA FOLDER                a fifth of the sequences to holdout.csv, the rest to train.csv
    judge.py halves   METADATA DATA FOLDER --number N     a random half to seen.csv, the other to unseen.csv
    judge.py score    METADATA REAL HOLDOUT SYNTHETIC     the scores of a synthetic table
    judge.py ceiling  METADATA DATA                       what real data scores: one half against the other

Scores lie in [0, 1] and 1 is best, `dcr_share` excepted; README.md says how to read them.
"""

import argparse
import json
import os
import warnings
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

# Before numpy is loaded: the threads of these libraries wait in loops, which takes the cores from everything else.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from sdmetrics.column_pairs import ContingencySimilarity, CorrelationSimilarity, InterRowMSAS, StatisticMSAS
from sdmetrics.errors import ConstantInputError
from sdmetrics.single_column import KSComplement, SequenceLengthSimilarity, TVComplement
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import NearestNeighbors

SPLIT_SEED = 7
CLASSIFIER_FOLDS = 5
MIN_SEQUENCES_TO_CLASSIFY = 40  # a side; with fewer the classifier learns nothing that holds in the next fold
MIN_HOLDOUT_SEQUENCES = 20
DISTANCE_REPEATS = 20
MOST_LEVELS = 12  # of a category that become features
MISSING = "nan"


# Tables ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Columns:
    """What the columns of a table are."""

    key: str
    index: str | None
    sdtypes: dict[str, str]
    context: frozenset[str]

    @classmethod
    def read(cls, metadata: Path, context: list[str]) -> "Columns":
        """From SDV's `V1` metadata of one table, and the names of the columns that are constant in a sequence."""
        (table,) = json.loads(metadata.read_text())["tables"].values()
        sdtypes = {name: column["sdtype"] for name, column in table["columns"].items()}
        unknown = set(context) - set(sdtypes)
        if unknown:
            raise SystemExit(f"no column {sorted(unknown)} in {metadata}: it has {sorted(sdtypes)}")
        return cls(table["sequence_key"], table.get("sequence_index"), sdtypes, frozenset(context))

    def of(self, *sdtypes: str) -> list[str]:
        return [name for name, sdtype in self.sdtypes.items() if sdtype in sdtypes and name != self.key]

    @property
    def numbers(self) -> list[str]:
        """Columns that are compared as numbers, dates among them."""
        return self.of("numerical", "datetime")

    @property
    def categories(self) -> list[str]:
        return self.of("categorical", "boolean")

    @property
    def row_numbers(self) -> list[str]:
        """Numbers that change within a sequence."""
        return [name for name in self.numbers if name not in self.context]

    @property
    def row_categories(self) -> list[str]:
        return [name for name in self.categories if name not in self.context]


class Sequences:
    """A table whose rows are in order: by key, and within a sequence by index.

    Numbers and dates (seconds) are floats, NaN where missing; categories are text in one spelling.
    """

    def __init__(self, frame: pd.DataFrame, columns: Columns):
        parsed = {columns.key: frame[columns.key].astype(str)}
        for name in columns.numbers:
            parsed[name] = seconds(frame[name]) if columns.sdtypes[name] == "datetime" else number(frame[name])
        for name in columns.categories:
            parsed[name] = spelled_alike(frame[name])
        order = [columns.key] + ([columns.index] if columns.index else [])
        self.frame = pd.DataFrame(parsed).sort_values(order, kind="stable", ignore_index=True)
        self.keys = self.frame[columns.key]

    def __getitem__(self, column: str) -> pd.Series:
        return self.frame[column]

    def by_sequence(self, values: pd.Series):
        return values.groupby(self.keys)

    def keyed(self, column: str) -> tuple[pd.Series, pd.Series]:
        """As SDMetrics wants a column of sequences."""
        return self.keys, self[column]


def number(column: pd.Series) -> pd.Series:
    return pd.to_numeric(column, errors="coerce").astype(float)


def seconds(column: pd.Series) -> pd.Series:
    """Dates as seconds since 1970; what is no date is missing."""
    return (pd.to_datetime(column, errors="coerce") - pd.Timestamp(0)) / pd.Timedelta(seconds=1)


def spelled_alike(column: pd.Series) -> pd.Series:
    """A category's text without regard to how a writer of CSV put it: `1.0` is `1`, `True` is `true`."""

    def spell(value: object) -> str:
        if pd.isna(value):
            return MISSING
        text = f"{value:g}" if isinstance(value, float) else str(value)
        return text.removesuffix(".0").lower()

    return column.map(spell)


def read_table(path: Path, columns: Columns) -> pd.DataFrame:
    return pd.read_csv(path, low_memory=False, dtype={columns.key: str})


# Scores ---------------------------------------------------------------------------------------------------------------


def marginals(real: Sequences, synthetic: Sequences, columns: Columns) -> float:
    """Each column by itself, in [0, 1]: 1 less the largest gap of the cumulative distributions of a number, or the
    total variation of a category. A number's score is multiplied by 1 less the difference in the share missing."""
    scores = []
    for name in columns.numbers:
        missing = [side[name].isna() for side in (real, synthetic)]
        known = not missing[0].all()
        if known or missing[1].any():
            shape = KSComplement.compute(real[name], synthetic[name]) if known else 1.0
            scores.append(shape * (1 - abs(missing[0].mean() - missing[1].mean())))
    scores += [TVComplement.compute(real[name], synthetic[name]) for name in columns.categories]
    return mean(scores)


def pairs(real: Sequences, synthetic: Sequences, columns: Columns) -> float:
    """Each two columns of a row, in [0, 1]: how alike Spearman's correlation of two numbers is; for other pairs 1 less
    the total variation of their joint table, numbers cut at the real tenths."""
    scores = [
        correlations_alike(real.frame[list(pair)], synthetic.frame[list(pair)])
        for pair in combinations(columns.numbers, 2)
    ]
    classes = [{}, {}]
    for name in columns.numbers:
        edges = tenths(real[name])
        for side, cut in zip((real, synthetic), classes):
            cut[name] = pd.cut(side[name], edges, labels=False).fillna(-1).astype(int).astype(str)
    for name in columns.categories:
        for side, cut in zip((real, synthetic), classes):
            cut[name] = side[name]
    of_real, of_synthetic = map(pd.DataFrame, classes)
    for pair in combinations(columns.numbers + columns.categories, 2):
        if not set(pair) <= set(columns.numbers):
            scores.append(ContingencySimilarity.compute(of_real[list(pair)], of_synthetic[list(pair)]))
    return mean(scores)


def correlations_alike(real: pd.DataFrame, synthetic: pd.DataFrame) -> float:
    """1 less half the difference of Spearman's correlations of two columns, in [0, 1]. A column that does not vary has
    none with any other, which counts as 0."""
    try:
        return CorrelationSimilarity.compute(real, synthetic, coefficient="Spearman")
    except ConstantInputError:
        of_real, of_synthetic = (side.corr("spearman").fillna(0).iloc[0, 1] for side in (real, synthetic))
        return 1 - abs(of_real - of_synthetic) / 2


def tenths(column: pd.Series) -> np.ndarray:
    """Edges of ten classes that hold a tenth of the values each, fewer where values recur, open at both ends."""
    inner = np.unique(np.nanquantile(column, np.linspace(0, 1, 11)))[1:-1]
    return np.concatenate([[-np.inf], inner if len(inner) else [0.0], [np.inf]])


def seq_stats(real: Sequences, synthetic: Sequences, columns: Columns) -> float:
    """What whole sequences look like, in [0, 1]: the distributions over the sequences of a number's mean, standard
    deviation, minimum and maximum, compared as in `marginals`."""
    return mean(
        StatisticMSAS.compute(real.keyed(name), synthetic.keyed(name), statistic=statistic)
        for name in columns.row_numbers
        for statistic in ("mean", "std", "min", "max")
    )


def inter_row(real: Sequences, synthetic: Sequences, columns: Columns) -> float:
    """How a number goes on, in [0, 1]: the distributions over the sequences of its mean change from a row to the next
    and to the one after that."""
    return mean(
        InterRowMSAS.compute(real.keyed(name), synthetic.keyed(name), n_rows_diff=rows)
        for name in columns.row_numbers
        for rows in (1, 2)
    )


def lengths(real: Sequences, synthetic: Sequences, columns: Columns) -> float:
    """The distributions of rows per sequence, in [0, 1]."""
    return float(SequenceLengthSimilarity.compute(real.keys, synthetic.keys))


def transitions(real: Sequences, synthetic: Sequences, columns: Columns) -> float:
    """How a category goes on, in [0, 1]: 1 less the total variation between the shares of (value, next value)."""
    scores = []
    for name in columns.row_categories:
        shares = [transition_shares(side, name) for side in (real, synthetic)]
        difference = shares[0].sub(shares[1], fill_value=0)
        scores.append(1 - difference.abs().sum() / 2)
    return mean(scores)


def transition_shares(table: Sequences, name: str) -> pd.Series:
    following = table.by_sequence(table[name]).shift(-1)
    steps = pd.DataFrame({"from": table[name], "to": following})[following.notna()]
    return steps.value_counts(normalize=True)


def autocorr(real: Sequences, synthetic: Sequences, columns: Columns) -> float:
    """How strongly a number holds on to itself, in [0, 1]: 1 less the difference of `lag_correlation`, at most 1."""
    return mean(
        1 - min(1, abs(lag_correlation(real, name) - lag_correlation(synthetic, name))) for name in columns.row_numbers
    )


def lag_correlation(table: Sequences, name: str) -> float:
    """Correlation, in [-1, 1], of a row's distance from its sequence's mean with that of the row before; 0 where one
    of them does not vary."""
    values = table[name]
    distance = values - table.by_sequence(values).transform("mean")
    both = pd.DataFrame({"now": distance, "before": table.by_sequence(distance).shift(1)}).dropna()
    if len(both) <= 2 or not (both.std() > 0).all():
        return 0.0
    return np.corrcoef(both["now"], both["before"])[0, 1]


def indistinct(real: pd.DataFrame, synthetic: pd.DataFrame, draw: np.random.RandomState) -> float | None:
    """Whether gradient boosting can tell real from synthetic sequences by their `features`, in [0, 1]: 1 where it
    guesses (area under the curve 0.5 in cross-validation), 0 where it is always right, or always wrong. None with
    fewer than 40 sequences a side."""
    size = min(len(real), len(synthetic))
    both = pd.concat([shuffled(side, size, draw) for side in (real, synthetic)])
    if size < MIN_SEQUENCES_TO_CLASSIFY:
        return None
    telling = (both.notna().sum() >= 10) & (both.nunique() > 1)
    inputs, is_real = both.loc[:, telling].to_numpy(float), np.repeat([1.0, 0.0], size)
    classifier = HistGradientBoostingClassifier(max_iter=80, random_state=0)
    guesses = cross_val_predict(classifier, inputs, is_real, cv=CLASSIFIER_FOLDS, method="predict_proba")[:, 1]
    return 1 - 2 * abs(roc_auc_score(is_real, guesses) - 0.5)


def dcr_share(
    real: pd.DataFrame, holdout: pd.DataFrame, synthetic: pd.DataFrame, draw: np.random.RandomState
) -> float | None:
    """Share of the synthetic sequences that are nearer to a sequence of the training table than to one of an equally
    large draw of the holdout, in [0, 1]; a tie counts half. 0.5 is private, 1 is a copy. The distance is Euclidean, of
    `features` in standard deviations. None with fewer than 20 sequences held out."""
    if len(holdout) < MIN_HOLDOUT_SEQUENCES:
        return None
    size = min(len(real), len(holdout))
    centre, spread = real.mean(), real.std().replace(0, 1)

    def points(side: pd.DataFrame) -> np.ndarray:
        return ((side - centre) / spread).fillna(0).clip(-10, 10).to_numpy(float)

    trained, held, made = points(real), points(holdout), points(synthetic)

    def nearest(among: np.ndarray) -> np.ndarray:
        some = among[draw.permutation(len(among))[:size]]
        return NearestNeighbors(n_neighbors=1).fit(some).kneighbors(made)[0][:, 0]

    shares = []
    for _ in range(DISTANCE_REPEATS):
        to_trained, to_held = nearest(trained), nearest(held)
        shares.append(np.mean(to_trained < to_held) + np.mean(to_trained == to_held) / 2)
    return mean(shares)


def shuffled(side: pd.DataFrame, size: int, draw: np.random.RandomState) -> pd.DataFrame:
    return side.iloc[draw.permutation(len(side))[:size]]


def mean(scores) -> float | None:
    """Of the scores that are known; None where there are none."""
    known = [score for score in scores if not np.isnan(score)]
    return float(np.mean(known)) if known else None


# A sequence in a few numbers ------------------------------------------------------------------------------------------


def features(table: Sequences, columns: Columns, levels: dict[str, list[str]]) -> pd.DataFrame:
    """One row a sequence: its length, what `number_features` and `category_features` say of each column."""
    found = {"rows": table.keys.groupby(table.keys).size()}
    for name in columns.numbers:
        found |= number_features(table, name)
    for name in columns.categories:
        found |= category_features(table, name, levels[name])
    return pd.DataFrame(found).map(to_seven_digits)


def number_features(table: Sequences, name: str) -> dict[str, pd.Series]:
    """Level, spread, ends, share missing, and the mean, spread and lag-1 product of the changes from row to row."""
    values = table.by_sequence(table[name])
    change = values.diff()
    product = change * table.by_sequence(change).shift(1)
    statistics = {statistic: values.agg(statistic) for statistic in ("mean", "std", "min", "max", "first", "last")} | {
        "missing": table.by_sequence(table[name].isna()).mean(),
        "mean change": table.by_sequence(change).mean(),
        "spread of change": table.by_sequence(change).std(),
        "product of changes": table.by_sequence(product).mean(),
    }
    return {f"{name}: {statistic}": value for statistic, value in statistics.items()}


def category_features(table: Sequences, name: str, levels: list[str]) -> dict[str, pd.Series]:
    """The share of rows of each level, and of rows that differ from the one before (the first always does)."""
    values = table[name]
    shares = {f"{name} = {level}": table.by_sequence(values == level).mean() for level in levels}
    changed = values != table.by_sequence(values).shift(1)
    return shares | {f"{name}: changes": table.by_sequence(changed).mean()}


def most_common(table: Sequences, columns: Columns) -> dict[str, list[str]]:
    return {name: list(table[name].value_counts().index[:MOST_LEVELS]) for name in columns.categories}


def to_seven_digits(value: float) -> float:
    """Rounds, so that the float noise of one source does not tell it from another."""
    return float(f"{value:.7g}")


# Commands -------------------------------------------------------------------------------------------------------------


def judge(
    real: pd.DataFrame, synthetic: pd.DataFrame, columns: Columns, holdout: pd.DataFrame | None = None
) -> dict[str, float]:
    """All scores that apply, `overall` (the mean of the eight), and `dcr_share` where there is a holdout."""
    of_real, of_synthetic = Sequences(real, columns), Sequences(synthetic, columns)
    of_tables = (marginals, pairs, seq_stats, inter_row, lengths, transitions, autocorr)
    scores = {score.__name__: score(of_real, of_synthetic, columns) for score in of_tables}

    levels, draw = most_common(of_real, columns), np.random.RandomState(0)
    real_features, synthetic_features = (features(side, columns, levels) for side in (of_real, of_synthetic))
    scores["indistinct"] = indistinct(real_features, synthetic_features, draw)
    scores["overall"] = mean(score for score in scores.values() if score is not None)
    if holdout is not None:
        held_features = features(Sequences(holdout, columns), columns, levels)
        scores["dcr_share"] = dcr_share(real_features, held_features, synthetic_features, draw)
    return {name: float(score) for name, score in scores.items() if score is not None}


def score(arguments: argparse.Namespace, columns: Columns) -> dict[str, float]:
    real, holdout, synthetic = (
        read_table(path, columns) for path in (arguments.real, arguments.holdout, arguments.synthetic)
    )
    return judge(real, synthetic, columns, holdout)


def ceiling(arguments: argparse.Namespace, columns: Columns) -> dict[str, float]:
    """The means over random halves of the real table, one scored against the other. A half is smaller than a table, so
    this is a little low."""
    data = read_table(arguments.data, columns)
    found = []
    for number in range(arguments.repeats):
        chosen = drawn(data[columns.key], number, parts=2)
        found.append(judge(data[chosen], data[~chosen], columns))
    return {name: mean(scores[name] for scores in found if name in scores) for name in found[0]}


def split(arguments: argparse.Namespace, columns: Columns) -> dict[str, int]:
    return write_parts(arguments, columns, SPLIT_SEED, 5, ("holdout", "train"))


def halves(arguments: argparse.Namespace, columns: Columns) -> dict[str, int]:
    return write_parts(arguments, columns, arguments.number, 2, ("seen", "unseen"))


def write_parts(
    arguments: argparse.Namespace, columns: Columns, seed: int, parts: int, names: tuple[str, str]
) -> dict[str, int]:
    """Writes the sequences drawn and the rest; prints how many sequences each has. Cells keep their very text."""
    data = pd.read_csv(arguments.data, dtype=str, keep_default_na=False)
    chosen = drawn(data[columns.key], seed, parts)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    sizes = {}
    for name, part in zip(names, (data[chosen], data[~chosen])):
        part.to_csv(arguments.folder / f"{name}.csv", index=False)
        sizes[name] = part[columns.key].nunique()
    return sizes


def drawn(keys: pd.Series, seed: int, parts: int) -> pd.Series:
    """Which rows belong to a random one of `parts` equal parts of the sequences, at least one sequence."""
    distinct = keys.drop_duplicates().to_numpy()
    some = np.random.RandomState(seed).permutation(distinct)[: max(1, len(distinct) // parts)]
    return keys.isin(some)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for command, files in {
        split: ["data", "folder"],
        halves: ["data", "folder"],
        score: ["real", "holdout", "synthetic"],
        ceiling: ["data"],
    }.items():
        part = commands.add_parser(command.__name__)
        part.set_defaults(command=command)
        for name in ["metadata"] + files:
            part.add_argument(name, type=Path)
        part.add_argument("--context", nargs="*", default=[], help="columns that are constant within a sequence")
        if command is halves:
            part.add_argument("--number", type=int, default=0, help="which random half, from 0; default 0")
        if command is ceiling:
            part.add_argument("--repeats", type=int, default=5, help="random halves, default 5")
    return parser.parse_args()


def main() -> None:
    warnings.filterwarnings("ignore")  # SDMetrics warns of each sequence too short for a lag
    arguments = parse_arguments()
    print(json.dumps(arguments.command(arguments, Columns.read(arguments.metadata, arguments.context))))


if __name__ == "__main__":
    main()
