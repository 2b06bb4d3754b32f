"""Makes columns.json and the tables beside it: what SDMetrics says of small columns and tables, for the golden tests.

Run from the root of the crate with SDMetrics 0.32.0, pandas 2.3.3, numpy 2.4.6 and scipy 1.17.1:
    python tests/evaluation/golden/make.py FOLDER
FOLDER holds NAME.train.csv, NAME.synthetic.csv, NAME.holdout.csv and NAME.metadata.json of the tables in TABLES, of
which the first sequences are kept. Numbers go into the JSON as text, so that reading them loses nothing; what SDMetrics
cannot compute, by NaN or by an error, is null.
"""
import json
import math
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import spearmanr
from sdmetrics.column_pairs import ContingencySimilarity, CorrelationSimilarity, InterRowMSAS, StatisticMSAS
from sdmetrics.reports import DiagnosticReport, QualityReport
from sdmetrics.single_column import (
    BoundaryAdherence, CategoryAdherence, CategoryCoverage, KSComplement, MissingValueSimilarity, RangeCoverage,
    SequenceLengthSimilarity, StatisticSimilarity, TVComplement,
)
from sdmetrics.single_table import DCRBaselineProtection, DCROverfittingProtection, NewRowSynthesis
from sdmetrics.single_table.privacy.dcr_utils import calculate_dcr

warnings.filterwarnings('ignore')
HERE = Path(__file__).parent
# Rows kept of each table, and columns that belong to the sequence.
TABLES = {
    'stores': (300, ['region']),
    'pbc_visits': (300, ['trt', 'age', 'sex']),
    'males_wage': (320, ['school', 'ethn']),
    'storms': (400, []),
}
nan = math.nan


def score(compute, *arguments, **options):
    """The score as JSON knows it."""
    try:
        found = float(compute(*arguments, **options))
    except Exception:
        return None
    return None if math.isnan(found) else found


def texts(numbers):
    return [None if isinstance(n, float) and math.isnan(n) else repr(float(n)) for n in numbers]


def with_gaps(random, values, share):
    values = np.asarray(values, dtype=float).copy()
    values[random.random(len(values)) < share] = nan
    return values.tolist()


def number_columns():
    random = np.random.default_rng(1)
    normal = lambda mean, size: random.normal(mean, 1.0, size).tolist()
    return {
        'normal': (normal(0.0, 60), normal(0.3, 45)),
        'missing on both sides': (with_gaps(random, normal(5.0, 50), 0.2), with_gaps(random, normal(5.0, 50), 0.4)),
        'missing in the synthetic only': (normal(0.0, 30), with_gaps(random, normal(0.0, 30), 0.3)),
        'ties': (random.integers(0, 4, 40).tolist(), random.integers(1, 6, 30).tolist()),
        'whole numbers on the edges of bins': (list(range(21)), list(range(0, 21, 3))),
        'equal but for noise of sums': ([0.1 + 0.2, 1.1, 2.2], [0.3, 1.1, 2.2 + 4e-16]),
        'thousands equal but for noise': ([1234.1 + 0.2, 5678.9], [1234.3, 5678.9 + 1e-12]),
        'constant in the real': ([2.5] * 10, normal(2.5, 10)),
        'constant in the synthetic': (normal(2.5, 10), [2.5] * 10),
        'constant on both sides': ([7.0] * 5, [7.0] * 4),
        'outside on both ends': (normal(0.0, 20), [-100.0, 0.0, 100.0]),
        'one value': ([1.0], [1.0]),
        'one value of two': ([1.0, 2.0], [1.5]),
        'all missing in the real': ([nan] * 4, normal(0.0, 5)),
        'all missing in the synthetic': (normal(0.0, 5), [nan] * 4),
        'all missing': ([nan] * 3, [nan] * 2),
        'large': ([1e15, 2e15, 3e15, 4e15], [1.5e15, 2e15]),
        'small': ([1e-9, 2e-9, 3e-9, 1.00000004e-9], [1.5e-9, 2e-9]),
        'nothing in common': ([1.0, 2.0, 3.0], [11.0, 12.0, 13.0]),
    }


def category_columns():
    random = np.random.default_rng(2)
    draw = lambda letters, size: random.choice(list(letters), size).tolist()
    gaps = lambda values: [None if random.random() < 0.25 else value for value in values]
    return {
        'plain': (draw('aabbbc', 50), draw('abc', 40)),
        'only in the synthetic': (draw('ab', 40), draw('abcd', 40)),
        'only in the real': (draw('abcd', 40), draw('ab', 40)),
        'nothing in common': (draw('ab', 10), draw('cd', 10)),
        'missing on both sides': (gaps(draw('abc', 40)), gaps(draw('abcd', 40))),
        'missing in the synthetic only': (draw('ab', 30), gaps(draw('ab', 30))),
        'missing in the real only': (gaps(draw('ab', 30)), draw('ab', 30)),
        'constant': (['a'] * 5, ['a'] * 3),
        'all missing in the real': ([None] * 4, draw('ab', 5)),
        'all missing in the synthetic': (draw('ab', 5), [None] * 4),
        'all missing': ([None] * 2, [None] * 3),
        'each row its own': ([f'r{n}' for n in range(30)], [f'r{n}' for n in range(15, 45)]),
    }


def single_columns():
    numbers = []
    for name, (real, synthetic) in number_columns().items():
        r, s = pd.Series(real, dtype=float), pd.Series(synthetic, dtype=float)
        numbers.append({
            'name': name, 'real': texts(real), 'synthetic': texts(synthetic),
            'ks_complement': score(KSComplement.compute, r, s),
            'range_coverage': score(RangeCoverage.compute, r, s),
            'boundary_adherence': score(BoundaryAdherence.compute, r, s),
            'missing_value_similarity': score(MissingValueSimilarity.compute, r, s),
            'mean': score(StatisticSimilarity.compute, r, s, 'mean'),
            'standard_deviation': score(StatisticSimilarity.compute, r, s, 'std'),
            'median': score(StatisticSimilarity.compute, r, s, 'median'),
        })
    categories = []
    for name, (real, synthetic) in category_columns().items():
        r, s = pd.Series(real, dtype=object), pd.Series(synthetic, dtype=object)
        categories.append({
            'name': name, 'real': real, 'synthetic': synthetic,
            'tv_complement': score(TVComplement.compute, r, s),
            'category_coverage': score(CategoryCoverage.compute, r, s),
            'category_adherence': score(CategoryAdherence.compute, r, s),
            'missing_value_similarity': score(MissingValueSimilarity.compute, r, s),
        })
    return numbers, categories


def number_pairs():
    random = np.random.default_rng(3)

    def related(size, slope, gaps=0.0):
        x = random.normal(0, 1, size)
        return with_gaps(random, x, gaps), with_gaps(random, slope * x + random.normal(0, 0.5, size), gaps)

    ties = lambda size: (random.integers(0, 3, size).tolist(), random.integers(0, 4, size).tolist())
    return {
        'related': (related(60, 1.0), related(50, 0.7)),
        'against each other': (related(60, 1.0), related(50, -1.0)),
        'weakly related': (related(60, 0.2), related(50, 0.9)),
        'missing': (related(60, 1.0, 0.2), related(60, 0.8, 0.3)),
        'ties': (ties(40), ties(30)),
        'constant real column': (([1.0] * 6, related(6, 1)[1]), related(6, 1.0)),
        'constant where both are present': (([1.0, 1.0, 2.0], [3.0, 4.0, nan]), related(9, 1.0)),
        'large and far from zero': (
            tuple((np.array(c) * 1e5 + 1.6e9).tolist() for c in related(40, 1.0)), related(40, 1.0)),
        'two rows': (([1.0, 2.0], [5.0, 3.0]), ([1.0, 2.0], [3.0, 5.0])),
        'one row': (([1.0], [5.0]), ([1.0], [3.0])),
        'none where both are present': (([1.0, nan, 2.0, nan], [nan, 5.0, nan, 6.0]), related(9, 1.0)),
    }


def category_pairs():
    random = np.random.default_rng(4)

    def related(size, strength, gaps=0.0, second='uvwx'):
        a = random.choice(list('abc'), size)
        follow = dict(zip('abc', second))
        b = [follow[x] if random.random() < strength else random.choice(list(second)) for x in a]
        gap = lambda column: [None if random.random() < gaps else value for value in column]
        return gap(a.tolist()), gap(b)

    return {
        'related': (related(80, 0.8), related(70, 0.6)),
        'unrelated in the real': (related(80, 0.0), related(70, 0.9)),
        'missing': (related(80, 0.8, 0.15), related(70, 0.8, 0.25)),
        'missing on one side only': (related(80, 0.8), related(70, 0.8, 0.2)),
        'constant': ((['a'] * 10, list('uv') * 5), (['a'] * 8, list('uv') * 4)),
        'only in the synthetic': (related(50, 0.9, second='uvw'), related(50, 0.9, second='xyz')),
        'each row its own': (([f'r{n}' for n in range(20)], [f's{n}' for n in range(20)]), related(20, 0.9)),
        'exactly unrelated': ((list('aabb'), list('uvuv')), (list('ab'), list('uv'))),
    }


def column_pairs():
    numbers = []
    for name, (real, synthetic) in number_pairs().items():
        r, s = (pd.DataFrame(dict(zip('xy', columns)), dtype=float) for columns in (real, synthetic))
        similarity = lambda kind, threshold: score(
            CorrelationSimilarity.compute, r, s, coefficient=kind, real_correlation_threshold=threshold)
        numbers.append({
            'name': name, 'real': [texts(c) for c in real], 'synthetic': [texts(c) for c in synthetic],
            'pearson': similarity('Pearson', 0), 'spearman': similarity('Spearman', 0),
            'pearson above a half': similarity('Pearson', 0.5), 'spearman above a half': similarity('Spearman', 0.5),
            'cut': score(ContingencySimilarity.compute, r, s, continuous_column_names=['x', 'y']),
            'cut in four': score(
                ContingencySimilarity.compute, r, s, continuous_column_names=['x', 'y'], num_discrete_bins=4),
        })
    categories = []
    for name, (real, synthetic) in category_pairs().items():
        r, s = (pd.DataFrame(dict(zip('xy', columns)), dtype=object) for columns in (real, synthetic))
        categories.append({
            'name': name, 'real': real, 'synthetic': synthetic,
            'contingency': score(ContingencySimilarity.compute, r, s),
            'above a third': score(ContingencySimilarity.compute, r, s, real_association_threshold=0.3),
            'association': score(lambda: ContingencySimilarity.compute_breakdown(
                r, s, real_association_threshold=1e-12)['real_association']),
        })
    return numbers, categories


def keyed_columns():
    random = np.random.default_rng(5)

    def keyed(lengths, draw, shuffled=False, gaps=0.0, lost=0.0):
        keys = np.repeat([f'k{n}' for n in range(len(lengths))], lengths)
        values = np.concatenate([draw(n) for n in lengths])
        if shuffled:
            order = random.permutation(len(keys))
            keys, values = keys[order], values[order]
        keys = [None if random.random() < lost else key for key in keys]
        return keys, with_gaps(random, values, gaps)

    walk = lambda n: np.cumsum(random.normal(0.2, 1, n))
    prices = lambda n: np.round(random.lognormal(3, 1, n), 2)
    lengths = lambda n: random.integers(1, 9, n)
    return {
        'walks': (keyed(lengths(20), walk), keyed(lengths(25), walk)),
        'rows of all sequences mixed': (keyed(lengths(20), walk, True), keyed(lengths(25), walk, True)),
        'missing values': (keyed(lengths(20), walk, gaps=0.2), keyed(lengths(20), walk, gaps=0.3)),
        'missing keys': (keyed(lengths(20), walk, lost=0.2), keyed(lengths(20), walk, lost=0.1)),
        'one row each': (keyed([1] * 10, walk), keyed([1] * 12, walk)),
        'prices with ties': (keyed([6] * 30, prices), keyed([6] * 30, lambda n: np.round(prices(n)))),
        'equal means by other sums': (keyed([3] * 9, lambda n: random.permutation([0.1, 0.2, 1234.3])),
                                      keyed([3] * 9, lambda n: random.permutation([0.1, 0.2, 1234.3]))),
        'means that depend on how they are summed': tuple(
            keyed([6] * 12, lambda n: random.permutation([0.1, 0.7, 1234.3, -999.9, 3.3, 0.05])) for _ in range(2)),
        'zeros and negative numbers': (keyed(lengths(20), lambda n: random.integers(-1, 4, n).astype(float)),
                                       keyed(lengths(20), lambda n: random.integers(-1, 5, n).astype(float))),
        'lengths 2 3 1 and 2 1 3': (keyed([2, 3, 1], walk), keyed([2, 1, 3], walk)),
        'lengths 4 6 2 and 2 1 3': (keyed([4, 6, 2], walk), keyed([2, 1, 3], walk)),
        'all values missing': (keyed([3, 2], walk, gaps=1.0), keyed([3, 2], walk)),
    }


def sequences():
    cases = []
    for name, (real, synthetic) in keyed_columns().items():
        r, s = ((pd.Series(keys, dtype=object), pd.Series(values)) for keys, values in (real, synthetic))
        statistic = lambda which: score(StatisticMSAS.compute, r, s, statistic=which)
        steps = lambda apart, log: score(InterRowMSAS.compute, r, s, n_rows_diff=apart, apply_log=log)
        cases.append({
            'name': name, 'real keys': real[0], 'real': texts(real[1]),
            'synthetic keys': synthetic[0], 'synthetic': texts(synthetic[1]),
            'lengths': score(SequenceLengthSimilarity.compute, r[0], s[0]),
            'statistics': {
                'mean': statistic('mean'), 'median': statistic('median'), 'standard_deviation': statistic('std'),
                'smallest': statistic('min'), 'largest': statistic('max')},
            'steps': {'1': steps(1, False), '2': steps(2, False), '3': steps(3, False)},
            'steps of logarithms': {'1': steps(1, True), '2': steps(2, True)},
        })
    return cases


def row_tables():
    random = np.random.default_rng(6)

    def table(rows, gaps=0.0, letters='abc'):
        category = [None if random.random() < gaps else str(random.choice(list(letters))) for _ in range(rows)]
        return {
            'x': with_gaps(random, np.round(random.uniform(1, 3, rows), 2), gaps),
            'y': with_gaps(random, random.integers(-3, 4, rows).astype(float), gaps),
            'c': category,
            'd': random.choice(list('uv'), rows).tolist(),
        }

    def constant(rows):
        return {'x': [1.0] * rows, 'y': random.integers(0, 2, rows).astype(float).tolist(), 'c': ['a'] * rows,
                'd': ['u'] * rows}

    near = table(60)
    return {
        'plain': (table(60), table(50), table(40), table(50)),
        'missing': (table(60, 0.2), table(50, 0.3), table(40, 0.1), table(50, 0.2)),
        'only in the synthetic': (table(40), table(40, letters='abcd'), table(40), table(40)),
        'constant columns': (constant(20), table(20), table(15), table(20)),
        'copies': (near, near, table(60), table(60)),
        'no random distance': (constant(20), constant(20), constant(10), constant(20)),
        'all missing in the real': ({**table(20), 'x': [nan] * 20}, table(20, 0.2), table(20), table(20, 0.5)),
    }


def rows():
    metadata = {'tables': {'table': {'columns': {
        'x': {'sdtype': 'numerical'}, 'y': {'sdtype': 'numerical'},
        'c': {'sdtype': 'categorical'}, 'd': {'sdtype': 'categorical'}}}}}
    write = lambda t: {'x': texts(t['x']), 'y': texts(t['y']), 'c': t['c'], 'd': t['d']}
    cases = []
    for name, tables in row_tables().items():
        real, synthetic, holdout, random = (pd.DataFrame(t) for t in tables)
        single = metadata['tables']['table']
        DCRBaselineProtection._generate_random_data = classmethod(lambda cls, *_: random)
        baseline = DCRBaselineProtection.compute_breakdown(real, synthetic, metadata, 'table')
        medians = baseline['median_DCR_to_real_data']
        overfitting = DCROverfittingProtection.compute_breakdown(real, synthetic, holdout, metadata, 'table')
        new = lambda tolerance: score(
            NewRowSynthesis.compute, real.copy(), synthetic.copy(), metadata, 'table',
            numerical_match_tolerance=tolerance)
        cases.append({
            'name': name,
            **dict(zip(('real', 'synthetic', 'holdout', 'random'), map(write, tables))),
            'new': new(0.01), 'new at a tenth': new(0.1), 'new at a half': new(0.5),
            'distances': calculate_dcr(synthetic, real, single).tolist(),
            'baseline': score(lambda: baseline['score']),
            'synthetic median': medians['synthetic_data'], 'random median': medians['random_data_baseline'],
            'overfitting': overfitting['score'],
            'closer to training': overfitting['synthetic_data_percentages']['closer_to_training'],
        })
    return cases


def reports(real, synthetic, metadata, context):
    """What the reports say of a table, and means of metrics over its columns."""
    quality, diagnostic = QualityReport(), DiagnosticReport()
    for report in (quality, diagnostic):
        report.generate({'table': real.copy()}, {'table': synthetic.copy()}, metadata, verbose=False)
    clean = lambda value: None if value is None or pd.isna(value) else value
    shapes, pairs = quality.get_details('Column Shapes'), quality.get_details('Column Pair Trends')
    validity = diagnostic.get_details('Data Validity')
    properties = {
        row.Property: clean(row.Score) for report in (quality, diagnostic) for row in report.get_properties().itertuples()}
    return {
        'quality': clean(quality.get_score()),
        'diagnostic': clean(diagnostic.get_score()),
        'properties': properties,
        'shapes': [[row['Column'], row['Metric'], clean(row['Score'])] for _, row in shapes.iterrows()],
        'pairs': [
            [row['Column 1'], row['Column 2'], row['Metric'], clean(row['Score']), clean(row['Real Correlation']),
             clean(row['Real Association']), bool(clean(row['Meets Threshold?']))]
            for _, row in pairs.iterrows()],
        'validity': [[row['Column'], row['Metric'], clean(row['Score'])] for _, row in validity.iterrows()],
        **along(real, synthetic, metadata, context),
    }


def along(real, synthetic, metadata, context):
    table = metadata['tables']['table']
    key, index = table['sequence_key'], table.get('sequence_index')
    kinds = {name: column['sdtype'] for name, column in table['columns'].items()}
    frames = []
    for frame in (real, synthetic):
        frame = frame.copy()
        for name, kind in kinds.items():
            if kind == 'datetime':
                dates = pd.to_datetime(frame[name], format=table['columns'][name]['datetime_format'])
                frame[name] = dates.astype('int64').where(dates.notna()).astype(float) / 1e9
        frames.append(frame.sort_values([key, index], kind='stable'))
    real, synthetic = frames
    numbers = [name for name, kind in kinds.items() if kind in ('numerical', 'datetime')]
    both = lambda name: ((real[key], real[name]), (synthetic[key], synthetic[name]))
    statistics = {'mean': 'mean', 'median': 'median', 'standard_deviation': 'std', 'smallest': 'min', 'largest': 'max'}
    found = {}
    for name in numbers:
        if name not in context:
            found[name] = {
                'statistics': {
                    ours: score(StatisticMSAS.compute, *both(name), statistic=theirs)
                    for ours, theirs in statistics.items()},
                'steps': [score(InterRowMSAS.compute, *both(name), n_rows_diff=apart) for apart in (1, 2)],
            }
    return {
        'lengths': score(SequenceLengthSimilarity.compute, real[key], synthetic[key]),
        'along': found,
        'all pairs': all_pairs(real, synthetic, kinds, key),
    }


def all_pairs(real, synthetic, kinds, key):
    """Spearman's coefficient of two numbers; else tables with numbers cut at the real deciles; no pair left out."""
    def cut(frame, name):
        if kinds[name] not in ('numerical', 'datetime'):
            return frame[name]
        edges = np.unique(np.nanquantile(real[name], np.linspace(0, 1, 11))).astype(float)
        if len(edges) > 2:
            edges[0], edges[-1] = -np.inf, np.inf
        else:  # two values at most
            edges = np.array([-np.inf, np.nan_to_num(edges[0]), np.inf])
        return pd.cut(frame[name], edges, labels=False).fillna(-1)

    names = [name for name, kind in kinds.items() if kind != 'id' and name != key]
    found = []
    for at, a in enumerate(names):
        for b in names[at + 1:]:
            if all(kinds[name] in ('numerical', 'datetime') for name in (a, b)):
                value = score(CorrelationSimilarity.compute, real[[a, b]], synthetic[[a, b]], coefficient='Spearman')
                constant = any((frame[name].nunique() == 1) for frame in (real, synthetic) for name in (a, b))
                if value is None and not constant:  # a real coefficient of 0 sharp counts here
                    r, s = (spearmanr(*frame[[a, b]].dropna().to_numpy(float).T).statistic for frame in (real, synthetic))
                    value = score(lambda: 1 - abs(r - s) / 2)
            else:
                value = score(ContingencySimilarity.compute, *(
                    pd.DataFrame({'a': cut(frame, a), 'b': cut(frame, b)}) for frame in (real, synthetic)))
            found.append([a, b, value])
    return found


def nasty(size, seed):
    """Missing values, constant columns, truth values, dates as text, ties, sequences of one row."""
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 7, size)
    keys = np.repeat([f'k{n:03}' for n in range(size)], lengths)
    rows = len(keys)
    gap = lambda values, share: pd.Series(values, dtype=object).mask(random.random(rows) < share)
    level = random.normal(0, 2, rows)
    day = pd.Timestamp('2021-03-01') + pd.to_timedelta(random.integers(0, 60, rows), unit='D')
    letters = random.choice(list('abcd' if seed == 1 else 'abce'), rows)
    return pd.DataFrame({
        'key': keys,
        'step': np.concatenate([np.arange(n) for n in lengths]),
        'seen': gap(day.strftime('%d/%m/%Y'), 0.1),
        'level': gap(np.round(level, 3), 0.15),
        'twin': np.round(level * 2 + random.normal(0, 0.5, rows), 3),
        'few': random.integers(0, 3, rows),
        'constant': 4.5,
        'constant there': 1.0 if seed == 1 else np.round(random.random(rows), 2),
        'all missing': np.full(rows, np.nan),
        'letter': gap(letters, 0.1),
        'follows': np.where(random.random(rows) < 0.9, np.char.upper(letters.astype(str)), 'Z'),
        'flag': random.random(rows) < (0.5 if seed == 1 else 0.3),
        'gap flag': gap(np.where(random.random(rows) < 0.5, 'yes', 'no'), 0.3),
        'same': 'x',
        'code': [f'id-{n}' for n in (range(rows) if seed == 1 else random.integers(0, rows, rows))],
    })


NASTY = {
    'METADATA_SPEC_VERSION': 'V1',
    'tables': {'table': {
        'columns': {
            'key': {'sdtype': 'id'}, 'step': {'sdtype': 'numerical'},
            'seen': {'sdtype': 'datetime', 'datetime_format': '%d/%m/%Y'},
            'level': {'sdtype': 'numerical'}, 'twin': {'sdtype': 'numerical'}, 'few': {'sdtype': 'numerical'},
            'constant': {'sdtype': 'numerical'}, 'constant there': {'sdtype': 'numerical'},
            'all missing': {'sdtype': 'numerical'}, 'letter': {'sdtype': 'categorical'},
            'follows': {'sdtype': 'categorical'}, 'flag': {'sdtype': 'boolean'}, 'gap flag': {'sdtype': 'categorical'},
            'same': {'sdtype': 'categorical'}, 'code': {'sdtype': 'id'},
        },
        'primary_key': 'code', 'sequence_key': 'key', 'sequence_index': 'step'}},
    'relationships': [],
}


def tables(folder):
    for name, (rows, _) in TABLES.items():
        shutil.copy(folder / f'{name}.metadata.json', HERE / f'{name}.metadata.json')
        for part, kept in (('train', 'real'), ('synthetic', 'synthetic')):
            frame = pd.read_csv(folder / f'{name}.{part}.csv', dtype=str, keep_default_na=False)
            key = frame.columns[0]
            starts = np.flatnonzero(frame[key].ne(frame[key].shift()))
            frame.iloc[:starts[starts <= rows].max()].to_csv(HERE / f'{name}.{kept}.csv', index=False)
    (HERE / 'nasty.metadata.json').write_text(json.dumps(NASTY, indent=1))
    for seed, kept in ((1, 'real'), (2, 'synthetic')):
        nasty(45, seed).to_csv(HERE / f'nasty.{kept}.csv', index=False)
    found = {}
    for name, context in {**{name: context for name, (_, context) in TABLES.items()}, 'nasty': []}.items():
        metadata = json.loads((HERE / f'{name}.metadata.json').read_text())
        frames = [pd.read_csv(HERE / f'{name}.{part}.csv') for part in ('real', 'synthetic')]
        found[name] = {'context': context, **reports(*frames, metadata, context)}
    return found


if __name__ == '__main__':
    numbers, categories = single_columns()
    number_pair_cases, category_pair_cases = column_pairs()
    (HERE / 'columns.json').write_text(json.dumps({
        'numbers': numbers, 'categories': categories, 'number pairs': number_pair_cases,
        'category pairs': category_pair_cases, 'sequences': sequences(), 'rows': rows(),
    }, indent=0))
    (HERE / 'tables.json').write_text(json.dumps(tables(Path(sys.argv[1])), indent=0))
