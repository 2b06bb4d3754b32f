//! Which column says whose row it is, which orders the rows, and which are constant within a sequence.
//! In: the frame and its profiles. Out: `Roles`, each candidate with the reason it was taken or passed over.
//! What is said to hold within every sequence was looked at in every row.

use polars::prelude::DataFrame;

use super::super::TableError;
use super::super::codes::Codes;
use super::order::{Index, Order, choose_index, indexes};
use super::profile::{Family, Profile};
use super::{IndexCandidate, KeyCandidate};
use crate::metadata::SdType;

/// Columns looked at as sequence key, the likelier first.
const MOST_KEYS: usize = 16;
/// A key needs so many kinds of evidence.
const EVIDENCE: usize = 2;
/// Rows beyond the first of their group before constant columns or rising numbers cannot be chance.
pub(super) const FEWEST_REPEATS: usize = 5;

/// A column that may say whose row it is.
struct Key {
    column: usize,
    codes: Codes,
    /// Positions of columns that are constant in each of its sequences and not in the whole table.
    constant: Vec<usize>,
    order: Order,
    index: Option<usize>,
    evidence: Vec<String>,
    /// Whether more speaks for it than its place and what goes along with it.
    is_strong: bool,
}

impl Key {
    /// Two columns that say the same, country and currency, are constant within each other: that alone is no key.
    fn is_enough(&self) -> bool {
        self.is_strong && self.evidence.len() >= EVIDENCE
    }
}

/// What was decided; positions are those of the frame's columns.
#[derive(Debug, Default)]
pub(super) struct Roles {
    pub(super) key: Vec<usize>,
    pub(super) index: Option<usize>,
    pub(super) context: Vec<usize>,
    /// Text columns that have one value for each sequence.
    pub(super) aliases: Vec<usize>,
    pub(super) keys: Vec<KeyCandidate>,
    pub(super) indexes: Vec<IndexCandidate>,
    pub(super) notes: Vec<String>,
}

pub(super) fn find(frame: &DataFrame, profiles: &[Profile]) -> Result<Roles, TableError> {
    let mut roles = Roles::default();
    if frame.height() < 2 {
        roles.notes.push(format!(
            "{} rows are too few to tell a sequence key or index by",
            frame.height()
        ));
        return Ok(roles);
    }
    let indexes = indexes(frame, profiles)?;
    let mut keys = keys(frame, profiles, &mut roles)?;
    let groupings: Vec<&Codes> = keys.iter().map(|key| &key.codes).collect();
    let constant = constant_columns(&groupings, frame, profiles)?;
    for (key, constant) in keys.iter_mut().zip(constant) {
        key.constant = constant;
        weigh(key, profiles, &indexes);
    }
    let best = keys
        .iter()
        .enumerate()
        .filter(|(_, key)| key.is_enough())
        .max_by_key(|(_, key)| {
            let named = profiles[key.column].words.say_key();
            let sure = key.order >= Order::Unique;
            (
                sure,
                key.order,
                key.evidence.len(),
                key.codes.distinct(),
                named,
                std::cmp::Reverse(key.column),
            )
        })
        .map(|(at, _)| at);
    // A column that gives no other an order may be one of two that do.
    let pair = match best.map(|at| keys[at].order) {
        None | Some(Order::Mixed) => working_pair(&keys, frame, profiles, &indexes, &mut roles)?,
        Some(Order::Level | Order::Unique | Order::Rising) => None,
    };
    for (at, key) in keys.iter().enumerate() {
        let taken = match &pair {
            Some(pair) => pair.columns.contains(&key.column),
            None => best == Some(at),
        };
        roles.keys.push(candidate(key, profiles, taken));
    }
    roles.keys.sort_by_key(|candidate| !candidate.taken);
    let alone = best.map(|at| Chosen::from(keys.swap_remove(at)));
    let chosen = pair.or(alone);
    if let Some(key) = &chosen {
        roles.context = constant_within(&key.codes, &key.columns, frame, profiles)?;
        roles.aliases = aliases(&roles.context, &key.codes, profiles);
        roles.key.clone_from(&key.columns);
    } else {
        roles
            .notes
            .push("no column was taken for the sequence key: the table is one sequence".to_owned());
    }
    choose_index(
        &mut roles,
        chosen.as_ref().map(|key| &key.codes),
        &indexes,
        profiles,
        frame.height(),
    );
    roles.context.retain(|&column| Some(column) != roles.index);
    Ok(roles)
}

/// The sequence key: one column, or two.
struct Chosen {
    columns: Vec<usize>,
    codes: Codes,
}

impl From<Key> for Chosen {
    fn from(key: Key) -> Self {
        Chosen {
            columns: vec![key.column],
            codes: key.codes,
        }
    }
}

/// Columns that could say whose row it is, the likelier first.
fn keys(
    frame: &DataFrame,
    profiles: &[Profile],
    roles: &mut Roles,
) -> Result<Vec<Key>, TableError> {
    let may_be = |profile: &Profile| {
        matches!(profile.family, Family::Text | Family::Whole)
            && !matches!(profile.sdtype, SdType::Datetime { .. })
            && profile.missing == 0
            && profile.distinct < profile.rows
            && (profile.distinct > 1 || profile.words.say_key())
            && !profile.words.say_time()
    };
    let mut columns = Vec::new();
    for (at, profile) in profiles.iter().enumerate() {
        if may_be(profile) {
            columns.push(at);
        } else if profile.words.say_id() {
            let reason = if profile.missing > 0 {
                "its name says id, but it has missing cells"
            } else if profile.is_unique() {
                "its name says id, but no value recurs: it names rows, not sequences"
            } else {
                continue;
            };
            roles.keys.push(KeyCandidate {
                column: profile.name.clone(),
                taken: false,
                reason: reason.to_owned(),
            });
        }
    }
    columns.sort_by_key(|&at| {
        let profile = &profiles[at];
        (
            !profile.words.say_key(),
            !profile.stand_together,
            profile.family != Family::Text,
            at,
        )
    });
    if columns.len() > MOST_KEYS {
        roles.notes.push(format!(
            "{} columns have values that recur; the {MOST_KEYS} likeliest by name and order were looked at as sequence key",
            columns.len()
        ));
        columns.truncate(MOST_KEYS);
    }
    let mut keys = Vec::new();
    for column in columns {
        let series = frame.columns()[column].as_materialized_series();
        keys.extend(Codes::of(series)?.map(|codes| Key {
            column,
            codes,
            constant: Vec::new(),
            order: Order::Mixed,
            index: None,
            evidence: Vec::new(),
            is_strong: false,
        }));
    }
    Ok(keys)
}

/// Collects what speaks for a key.
fn weigh(key: &mut Key, profiles: &[Profile], indexes: &[Index]) {
    let profile = &profiles[key.column];
    let repeats = profile.rows - profile.distinct;
    for index in indexes.iter().filter(|index| index.column != key.column) {
        let order = index.within(Some(&key.codes), repeats);
        // What holds in the whole table holds in any group, and speaks for none.
        let is_news = order > index.overall && order > Order::Mixed;
        if is_news && order > key.order {
            (key.order, key.index) = (order, Some(index.column));
        }
    }
    if let Some(index) = key.index {
        key.evidence.push(format!(
            "`{}` {} in each of its groups and not in the whole table",
            profiles[index].name,
            key.order.words()
        ));
    }
    let (column, is_chance) = (
        key.column,
        repeats < FEWEST_REPEATS || profile.distinct == 1,
    );
    key.constant
        .retain(|&at| at != column && profiles[at].distinct > 1 && !is_chance);
    if !key.constant.is_empty() {
        key.evidence.push(format!(
            "{} in each of its groups",
            list(&key.constant, profiles, "is constant", "are constant")
        ));
    }
    let is_together = profile.stand_together && profile.distinct > 1 && repeats > 0;
    if is_together {
        key.evidence.push("its rows stand together".to_owned());
    }
    key.is_strong = key.index.is_some() || is_together || profile.words.say_key();
    if profile.words.say_key() {
        key.evidence.push("its name is one of a key".to_owned());
    }
    if key.column == 0 {
        key.evidence.push("it is the first column".to_owned());
    }
}

/// For each grouping, the columns with one value in each of its groups; what is missing throughout says nothing.
fn constant_columns(
    groupings: &[&Codes],
    frame: &DataFrame,
    profiles: &[Profile],
) -> Result<Vec<Vec<usize>>, TableError> {
    let mut constant = vec![Vec::new(); groupings.len()];
    let most = groupings.iter().map(|groups| groups.distinct()).max();
    for (at, column) in frame.columns().iter().enumerate() {
        // A column of more values than groups changes within one.
        if profiles[at].distinct == 0 || Some(profiles[at].distinct) > most {
            continue;
        }
        let Some(codes) = Codes::of(column.as_materialized_series())? else {
            continue;
        };
        for (groups, constant) in groupings.iter().zip(&mut constant) {
            if groups.determine(&codes) {
                constant.push(at);
            }
        }
    }
    Ok(constant)
}

/// The columns that are constant within the groups of some, but those themselves.
fn constant_within(
    groups: &Codes,
    columns: &[usize],
    frame: &DataFrame,
    profiles: &[Profile],
) -> Result<Vec<usize>, TableError> {
    let constant = constant_columns(&[groups], frame, profiles)?;
    let others = constant.into_iter().flatten();
    Ok(others.filter(|at| !columns.contains(at)).collect())
}

/// Text that has a value of its own for each sequence names it, whatever it is called.
fn aliases(context: &[usize], groups: &Codes, profiles: &[Profile]) -> Vec<usize> {
    let names = |&at: &usize| {
        profiles[at].family == Family::Text
            && profiles[at].sdtype == SdType::Categorical
            && groups.distinct() >= FEWEST_REPEATS
            && profiles[at].distinct == groups.distinct()
    };
    context.iter().copied().filter(names).collect()
}

fn candidate(key: &Key, profiles: &[Profile], taken: bool) -> KeyCandidate {
    let groups = format!(
        "{} values in {} rows",
        key.codes.distinct(),
        key.codes.rows.len()
    );
    let evidence = key.evidence.join("; ");
    let reason = match (taken, key.is_enough()) {
        (true, _) if key.evidence.is_empty() => format!("{groups}; taken with another"),
        (true, _) => format!("{groups}; {evidence}"),
        (false, _) if key.evidence.is_empty() => format!("{groups}; nothing speaks for it"),
        (false, false) => format!("{groups}; {evidence}, which is not enough"),
        (false, true) => format!("{groups}; worth a look: {evidence}; more speaks for another"),
    };
    KeyCandidate {
        column: profiles[key.column].name.clone(),
        taken,
        reason,
    }
}

fn list(columns: &[usize], profiles: &[Profile], one: &str, several: &str) -> String {
    const MOST_LISTED: usize = 5;
    let mut names: Vec<String> = columns
        .iter()
        .take(MOST_LISTED)
        .map(|&at| format!("`{}`", profiles[at].name))
        .collect();
    if columns.len() > MOST_LISTED {
        names.push(format!("{} more", columns.len() - MOST_LISTED));
    }
    let verb = if columns.len() == 1 { one } else { several };
    format!("{} {verb}", names.join(", "))
}

/// Two columns that together do where none alone does; what may be chance is told, not taken.
fn working_pair(
    keys: &[Key],
    frame: &DataFrame,
    profiles: &[Profile],
    indexes: &[Index],
    roles: &mut Roles,
) -> Result<Option<Chosen>, TableError> {
    const MOST_PAIRED: usize = 8;
    let keys = &keys[..keys.len().min(MOST_PAIRED)];
    for (at, right) in keys.iter().enumerate() {
        for left in &keys[..at] {
            let codes = Codes::pairs(&left.codes, &right.codes);
            let repeats = codes.rows.len() - codes.distinct();
            let more = left.codes.distinct().max(right.codes.distinct());
            let index = indexes.iter().find(|index| {
                let is_other = index.column != left.column && index.column != right.column;
                let order = index.within(Some(&codes), repeats);
                is_other && order >= Order::Unique && order > index.overall
            });
            let Some(index) = index.filter(|_| repeats > 0 && codes.distinct() > more) else {
                continue;
            };
            let mut columns = vec![left.column, right.column];
            columns.sort_unstable();
            let constant = constant_within(&codes, &columns, frame, profiles)?;
            let is_chance = repeats < FEWEST_REPEATS
                || !(codes.stand_together()
                    || constant.iter().any(|&at| profiles[at].distinct > 1));
            let names = columns.iter().map(|&at| format!("`{}`", profiles[at].name));
            roles.notes.push(format!(
                "{} together {} as sequence key: within each pair `{}` has no value twice",
                names.collect::<Vec<_>>().join(" and "),
                if is_chance { "would do" } else { "were taken" },
                profiles[index.column].name
            ));
            return Ok((!is_chance).then_some(Chosen { columns, codes }));
        }
    }
    Ok(None)
}
