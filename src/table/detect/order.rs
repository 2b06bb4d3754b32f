//! Which column orders the rows: how each lies within groups of them, and the best one.

use polars::prelude::DataFrame;

use super::super::codes::Codes;
use super::super::{ColumnSchema, Role, TableError, read::read, schema::fit_storage};
use super::IndexCandidate;
use super::profile::{Family, Profile};
use super::roles::{FEWEST_REPEATS, Roles};
use crate::metadata::SdType;

/// Columns looked at as sequence index, the likelier first.
const MOST_INDEXES: usize = 32;

/// How a column's values lie within groups of rows, from bad to good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    Mixed,
    /// Never falls from row to row.
    Level,
    /// No value twice in a group.
    Unique,
    /// Rises from row to row.
    Rising,
}

impl Order {
    /// The order of a column within groups, or in the whole table; `must_rise` spares the look at those that do not.
    fn of(ranks: &[i128], groups: Option<&Codes>, must_rise: bool) -> Order {
        let count = groups.map_or(1, Codes::distinct);
        let group = |row: usize| groups.map_or(0, |groups| groups.rows[row] as usize);
        let mut last: Vec<Option<i128>> = vec![None; count];
        let (mut rises, mut falls) = (true, false);
        for (row, &rank) in ranks.iter().enumerate() {
            let Some(last) = last.get_mut(group(row)) else {
                return Order::Mixed;
            };
            rises &= last.is_none_or(|last| last < rank);
            falls |= last.is_some_and(|last| last > rank);
            *last = Some(rank);
            if must_rise && !rises {
                return Order::Mixed;
            }
        }
        if rises {
            return Order::Rising;
        }
        let mut pairs: Vec<(usize, i128)> = ranks
            .iter()
            .enumerate()
            .map(|(row, &rank)| (group(row), rank))
            .collect();
        pairs.sort_unstable();
        if pairs.windows(2).all(|pair| pair[0] != pair[1]) {
            Order::Unique
        } else if falls {
            Order::Mixed
        } else {
            Order::Level
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Order::Mixed => "repeats, and falls from row to row",
            Order::Level => "never falls from row to row",
            Order::Unique => "has no value twice",
            Order::Rising => "rises from row to row",
        }
    }
}

/// A column that may order the rows.
pub(super) struct Index {
    pub(super) column: usize,
    ranks: Vec<i128>,
    pub(super) overall: Order,
    is_date: bool,
    says_time: bool,
}

impl Index {
    /// How well it orders the rows of the groups; a number without a name of time must rise to count.
    pub(super) fn within(&self, groups: Option<&Codes>, repeats: usize) -> Order {
        let order = match groups {
            None => self.overall,
            Some(_) => Order::of(&self.ranks, groups, self.must_rise()),
        };
        let is_chance = self.must_rise() && repeats < FEWEST_REPEATS;
        if is_chance { Order::Mixed } else { order }
    }

    fn must_rise(&self) -> bool {
        !self.is_date && !self.says_time
    }

    /// Dates first, then names of time.
    fn rank(&self) -> (bool, bool) {
        (self.is_date, self.says_time)
    }
}

/// Columns that could order rows at all: dates and numbers without a missing cell.
pub(super) fn indexes(frame: &DataFrame, profiles: &[Profile]) -> Result<Vec<Index>, TableError> {
    let mut columns: Vec<usize> = (0..profiles.len())
        .filter(|&at| {
            let profile = &profiles[at];
            let is_time = matches!(profile.sdtype, SdType::Datetime { .. });
            let is_number = matches!(profile.family, Family::Whole | Family::Real)
                && matches!(profile.sdtype, SdType::Numerical | SdType::Categorical)
                && !profile.words.say_id();
            profile.missing == 0 && profile.distinct > 1 && (is_time || is_number)
        })
        .collect();
    let is_date = |at: usize| matches!(profiles[at].sdtype, SdType::Datetime { .. });
    columns.sort_by_key(|&at| (!is_date(at), !profiles[at].words.say_time()));
    columns.truncate(MOST_INDEXES);
    let mut indexes = Vec::new();
    for at in columns {
        // An infinite number orders nothing; the column is no index, and its profile says so.
        let Ok(ranks) = ranks(frame, at, &profiles[at]) else {
            continue;
        };
        let (is_date, says_time) = (is_date(at), profiles[at].words.say_time());
        indexes.push(Index {
            column: at,
            overall: Order::of(&ranks, None, !is_date && !says_time),
            ranks,
            is_date,
            says_time,
        });
    }
    Ok(indexes)
}

fn ranks(frame: &DataFrame, at: usize, profile: &Profile) -> Result<Vec<i128>, TableError> {
    let column = &frame.columns()[at];
    let sdtype = match &profile.sdtype {
        date @ SdType::Datetime { .. } => date.clone(),
        _ => SdType::Numerical,
    };
    let schema = ColumnSchema {
        name: profile.name.clone(),
        role: Role::Sequential,
        is_key: false,
        storage: fit_storage(column, &profile.name, &sdtype)?,
        sdtype,
        base: 0,
        step: 1,
    };
    Ok(read(column, &schema)?.ranks())
}

pub(super) fn choose_index(
    roles: &mut Roles,
    groups: Option<&Codes>,
    indexes: &[Index],
    profiles: &[Profile],
    rows: usize,
) {
    let repeats = rows - groups.map_or(1, Codes::distinct);
    let open: Vec<(&Index, Order)> = indexes
        .iter()
        .filter(|index| {
            !roles.key.contains(&index.column) && !roles.context.contains(&index.column)
        })
        .map(|index| (index, index.within(groups, repeats)))
        .collect();
    let place = if groups.is_some() {
        "every sequence"
    } else {
        "the table"
    };
    let best = open
        .iter()
        .filter(|(_, order)| *order > Order::Mixed)
        .max_by_key(|(index, order)| {
            let is_sure = *order >= Order::Unique;
            (
                is_sure,
                index.rank(),
                *order,
                std::cmp::Reverse(index.column),
            )
        });
    let mut dates = open.iter().filter(|(index, _)| index.is_date);
    let only_date = match (dates.next(), dates.next()) {
        (Some(date), None) => Some(date),
        _ => None,
    };
    let taken = best.or(only_date).map(|(index, _)| index.column);
    roles.index = taken;
    for (index, order) in &open {
        let is_taken = Some(index.column) == taken;
        let told = match *order {
            Order::Mixed if is_taken => {
                "the only date that is not constant; it has no order, so rows will be sorted by it"
                    .to_owned()
            }
            Order::Mixed if !index.is_date && !index.says_time => continue,
            order => {
                let what = if index.is_date {
                    "a date that"
                } else {
                    "a number that"
                };
                format!("{what} {} in {place}", order.words())
            }
        };
        let reason = match (is_taken, *order) {
            (true, _) => told,
            (false, Order::Mixed) => format!("{told}, which does not order it"),
            (false, _) => format!("{told}; another comes first"),
        };
        roles.indexes.push(IndexCandidate {
            column: profiles[index.column].name.clone(),
            taken: is_taken,
            reason,
        });
    }
    roles.indexes.sort_by_key(|candidate| !candidate.taken);
    if taken.is_none() {
        roles
            .notes
            .push("no column was taken for the sequence index: rows keep their order".to_owned());
    }
}
