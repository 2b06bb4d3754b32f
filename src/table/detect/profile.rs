//! What one column seems to mean, by its dtype, its values and its name, and why.

use polars::prelude::{Column, DataType, Series};

use super::super::TableError;
use super::super::cells::{MISSING_WHOLE, text, whole};
use super::super::codes::Codes;
use super::super::read::integer_type;
use super::dates::{TextDates, digit_dates, text_dates};
use super::names::NameWords;
use super::shape::shared_shape;
use crate::metadata::{PersonalKind, SdType};

/// Numbers of at most so many values may be codes.
const MOST_CODES: usize = 10;
/// Numbers are codes only if there are so many cells to a value.
const CELLS_PER_CODE: usize = 5;
/// Text all different is taken for ids from so many values on; of fewer it may be chance.
const FEWEST_IDS: usize = 5;
/// More categories than this are learned poorly.
const MANY_CATEGORIES: usize = 500;
/// Words of a text that is more than a name.
const WORDS_OF_FREE_TEXT: usize = 6;

/// What is in a column's cells, whatever it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Text,
    /// Categories of a fixed list, to which no made-up one can be added.
    Fixed,
    Whole,
    Real,
    Boolean,
    Date,
    /// Every cell is missing, or the dtype is not read.
    Other,
}

/// One column's guess.
#[derive(Debug)]
pub(super) struct Profile {
    pub(super) name: String,
    pub(super) words: NameWords,
    pub(super) family: Family,
    pub(super) rows: usize,
    pub(super) missing: usize,
    pub(super) distinct: usize,
    pub(super) stand_together: bool,
    pub(super) sdtype: SdType,
    pub(super) reason: String,
    pub(super) doubts: Vec<String>,
    /// The pattern that the texts share, to be stated if they are ids.
    pub(super) shape: Option<String>,
}

impl Profile {
    pub(super) fn of(column: &Column) -> Result<Profile, TableError> {
        let series = column.as_materialized_series();
        let codes = Codes::of(series)?;
        let name = column.name().to_string();
        let mut profile = Profile {
            words: NameWords::of(&name),
            name,
            family: family(series.dtype()),
            rows: series.len(),
            missing: codes.as_ref().map_or(series.null_count(), Codes::missing),
            distinct: codes.as_ref().map_or(0, Codes::distinct),
            stand_together: codes.as_ref().is_some_and(Codes::stand_together),
            sdtype: SdType::Categorical,
            reason: format!("dtype {}", series.dtype()),
            doubts: Vec::new(),
            shape: None,
        };
        match codes {
            None => profile.doubts.push(format!(
                "dtype {} is not modelled; cast the column or leave it out",
                series.dtype()
            )),
            Some(codes) if codes.distinct() == 0 => profile.guess_empty(series.dtype()),
            Some(codes) => profile.guess(series, &codes)?,
        }
        Ok(profile)
    }

    pub(super) fn present(&self) -> usize {
        self.rows - self.missing
    }

    /// Whether no value is missing and none stands in two rows, of which there are several.
    pub(super) fn is_unique(&self) -> bool {
        self.rows > 1 && self.missing == 0 && self.distinct == self.rows
    }

    fn state(&mut self, sdtype: SdType, reason: impl Into<String>) {
        (self.sdtype, self.reason) = (sdtype, reason.into());
    }

    fn doubt(&mut self, doubt: impl Into<String>) {
        self.doubts.push(doubt.into());
    }

    fn guess_empty(&mut self, dtype: &DataType) {
        self.family = Family::Other;
        let sdtype = match family(dtype) {
            Family::Boolean => SdType::Boolean,
            Family::Date => SdType::Datetime { format: None },
            Family::Whole | Family::Real => SdType::Numerical,
            Family::Text | Family::Fixed | Family::Other => SdType::Categorical,
        };
        self.state(sdtype, format!("no value to go by; by its dtype, {dtype}"));
    }

    fn guess(&mut self, series: &Series, codes: &Codes) -> Result<(), TableError> {
        match self.family {
            Family::Boolean => self.state(SdType::Boolean, "truth values"),
            Family::Date => {
                self.state(
                    SdType::Datetime { format: None },
                    format!("dtype {}", series.dtype()),
                );
                self.doubt_birth();
            }
            Family::Real => self.guess_real(series, codes)?,
            Family::Whole => self.guess_whole(series, codes)?,
            Family::Text if *series.dtype() == DataType::String => {
                self.guess_text(series, codes)?;
            }
            Family::Text | Family::Fixed => self.state(
                SdType::Categorical,
                format!("dtype {}, {} categories", series.dtype(), self.distinct),
            ),
            Family::Other => {}
        }
        Ok(())
    }

    fn guess_real(&mut self, series: &Series, codes: &Codes) -> Result<(), TableError> {
        let cells = series.cast(&DataType::Float64)?;
        let cells = cells.f64()?;
        let mut values: Vec<f64> = codes
            .first_rows
            .iter()
            .filter_map(|&row| cells.get(row))
            .collect();
        values.sort_by(f64::total_cmp);
        let are_whole = values.iter().all(|value| value.fract() == 0.0);
        let few = self.few_values();
        let spread = values.first().zip(values.last());
        let consecutive = are_whole
            && spread.is_some_and(|(first, last)| {
                (*first == 0.0 || *first == 1.0) && last - first + 1.0 == values.len() as f64
            });
        if few && (self.distinct <= 3 || consecutive) {
            self.state_codes();
        } else {
            self.state(SdType::Numerical, "numbers");
        }
        if values.iter().any(|value| value.is_infinite()) {
            self.doubt("it has infinite numbers, which a fit refuses; make them missing");
        }
        self.doubt_personal_number();
        Ok(())
    }

    fn guess_whole(&mut self, series: &Series, codes: &Codes) -> Result<(), TableError> {
        if matches!(series.dtype(), DataType::Duration(_)) {
            self.state(SdType::Numerical, "lengths of time");
            return Ok(());
        }
        let cells = whole(series)?;
        if let Some(format) = digit_dates(&cells, self.words.say_time()) {
            let format = Some(format.to_owned());
            let reason = format!(
                "whole numbers whose digits are all dates, {}",
                format.as_deref().unwrap_or_default()
            );
            self.state(SdType::Datetime { format }, reason);
            return Ok(());
        }
        let values = codes.first_rows.iter().map(|&row| cells[row]);
        let (smallest, largest) = values
            .filter(|&cell| cell != MISSING_WHOLE)
            .fold((i128::MAX, i128::MIN), |(low, high), cell| {
                (low.min(cell), high.max(cell))
            });
        let consecutive = (0..=1).contains(&smallest)
            && usize::try_from(largest - smallest + 1) == Ok(self.distinct);
        if self.is_unique() && self.words.say_id() {
            self.state(
                SdType::Id { regex_format: None },
                "whole numbers, all different, and the name says id",
            );
        } else if self.words.say_id() && self.distinct > 1 && self.present() > self.distinct {
            self.state(
                SdType::Categorical,
                "whole numbers that recur, and the name says id",
            );
            self.doubt("an id of something else; state it as id to have it made up");
        } else if self.few_values() && (self.distinct <= 3 || consecutive) {
            self.state_codes();
        } else {
            self.state(SdType::Numerical, "whole numbers");
            if self.few_values() {
                self.doubt(format!(
                    "it takes {} values only; state it as categorical if they are codes",
                    self.distinct
                ));
            }
        }
        self.doubt_personal_number();
        Ok(())
    }

    /// Whether a number's values are few enough, and recur enough, to be codes.
    fn few_values(&self) -> bool {
        !self.words.say_quantity()
            && (2..=MOST_CODES).contains(&self.distinct)
            && self.present() >= CELLS_PER_CODE * self.distinct
    }

    fn state_codes(&mut self) {
        let reason = match self.distinct {
            2 | 3 => format!("{} numbers that recur look like codes", self.distinct),
            distinct => {
                format!("{distinct} numbers in a row from 0 or 1 that recur look like codes")
            }
        };
        self.state(SdType::Categorical, reason);
        self.doubt("state it as numerical if it counts or measures");
    }

    fn doubt_personal_number(&mut self) {
        let kind = self.words.personal().or(self.words.perhaps_personal());
        if let Some(kind) = kind {
            self.doubt(format!(
                "the name may say {0}; cast it to text and state it as {0} to have it made up",
                kind.name()
            ));
        }
    }

    fn doubt_birth(&mut self) {
        if self.words.perhaps_personal() == Some(PersonalKind::DateOfBirth) {
            self.doubt("state it as date_of_birth to have it made up");
        }
    }

    fn guess_text(&mut self, series: &Series, codes: &Codes) -> Result<(), TableError> {
        let texts = text(series)?;
        let cells: Vec<Option<&str>> = texts.str()?.iter().collect();
        let values: Vec<(usize, &str)> = codes
            .first_rows
            .iter()
            .filter_map(|&row| Some((row, cells[row]?)))
            .collect();
        match text_dates(&cells, &values) {
            TextDates::Format { format, doubtful } => {
                let reason = format!("text, every value a date of format {format}");
                if let Some(other) = doubtful {
                    self.doubt(format!("every value fits {other} as well; which is meant?"));
                }
                self.state(
                    SdType::Datetime {
                        format: Some(format),
                    },
                    reason,
                );
                self.doubt_birth();
                return Ok(());
            }
            TextDates::Almost { format, row } => self.doubt(format!(
                "most values are dates of format {format}; the one in row {row} is not"
            )),
            TextDates::No => {}
        }
        let texts: Vec<&str> = values.iter().map(|&(_, value)| value).collect();
        if let Some(kind) = self.personal(&texts) {
            self.state(
                SdType::personal(kind),
                format!("text, and the name says {}", kind.name()),
            );
            self.doubt("values are made up; state it as categorical to learn them");
        } else {
            self.guess_words(&texts);
        }
        Ok(())
    }

    /// Text that is neither date nor personal: ids, prose or categories.
    fn guess_words(&mut self, texts: &[&str]) {
        let all_different = self.distinct == self.present();
        let words = texts.iter().map(|text| text.split_whitespace().count());
        let is_prose = words.sum::<usize>() >= WORDS_OF_FREE_TEXT * texts.len();
        self.shape = shared_shape(texts);
        if is_prose && self.distinct > MOST_CODES {
            self.state(
                SdType::personal(PersonalKind::Text),
                "free text, which is made up and not learned",
            );
        } else if all_different
            && (self.present() >= FEWEST_IDS || (self.words.say_id() && self.rows > 1))
        {
            self.state(
                SdType::Id {
                    regex_format: self.shape.clone(),
                },
                "text, all values different",
            );
            self.doubt_text(texts);
        } else {
            self.state(
                SdType::Categorical,
                format!("text, {} values in {} cells", self.distinct, self.present()),
            );
            if all_different {
                self.doubt("too few values to tell categories from ids");
            } else if self.words.say_id() {
                self.doubt("an id of something else; state it as id to have it made up");
            } else if self.distinct > MANY_CATEGORIES {
                self.doubt("rare ones of so many categories are learned poorly; state it as id to have it made up");
            }
            self.doubt_text(texts);
        }
    }

    fn doubt_text(&mut self, texts: &[&str]) {
        if let Some(kind) = self.words.perhaps_personal() {
            self.doubt(format!("state it as {} to have it made up", kind.name()));
        }
        let numbers = texts
            .iter()
            .filter(|text| text.trim().parse::<f64>().is_ok_and(f64::is_finite))
            .count();
        if numbers == texts.len() {
            self.doubt("its values are numbers held as text; cast it to a number if they measure");
        } else if numbers * 10 >= texts.len() * 9 {
            self.doubt("most of its values are numbers; make the others missing if it measures");
        }
    }

    /// The personal kind that the name says and the values do not contradict.
    fn personal(&self, texts: &[&str]) -> Option<PersonalKind> {
        let most = |fits: fn(&str) -> bool| {
            texts.iter().filter(|text| fits(text)).count() * 10 >= texts.len() * 8
        };
        let has_digit = |text: &str| text.bytes().any(|byte| byte.is_ascii_digit());
        let kind = self.words.personal()?;
        let fits = match kind {
            PersonalKind::Email => most(|text| text.contains('@')),
            PersonalKind::Ipv4Address if most(|text| text.contains(':')) => {
                return Some(PersonalKind::Ipv6Address);
            }
            PersonalKind::Ipv4Address => most(|text| text.split('.').count() == 4),
            PersonalKind::Ipv6Address | PersonalKind::MacAddress => {
                most(|text| text.contains([':', '-']))
            }
            PersonalKind::PhoneNumber
            | PersonalKind::Postcode
            | PersonalKind::Ssn
            | PersonalKind::CreditCardNumber
            | PersonalKind::Iban
            | PersonalKind::Vin => most(has_digit),
            PersonalKind::Url => most(|text| text.contains('.')),
            PersonalKind::FirstName | PersonalKind::LastName | PersonalKind::City => {
                most(|text| !text.bytes().any(|byte| byte.is_ascii_digit()))
            }
            _ => true,
        };
        fits.then_some(kind)
    }
}

fn family(dtype: &DataType) -> Family {
    match dtype {
        DataType::String | DataType::Categorical(..) => Family::Text,
        DataType::Enum(..) => Family::Fixed,
        DataType::Float32 | DataType::Float64 => Family::Real,
        DataType::Boolean => Family::Boolean,
        DataType::Date | DataType::Datetime(..) => Family::Date,
        DataType::Duration(_) => Family::Whole,
        dtype if integer_type(dtype).is_some() => Family::Whole,
        _ => Family::Other,
    }
}
