//! Number codecs as tensors: from what a head says to a value as its column writes it, all sequences at once.
//! In: [`HeadTensors`] and uniform numbers. Out: values in the column's own units, NaN where missing.

use super::arithmetic::{choose_where, round};
use super::draws;
use super::exchange::Exchange;
use super::maps::{MapTensors, ScaleTensors};
use crate::codec::number::{Bin, Grid, NumberCodec};
use crate::layout::NumberColumn;
use crate::model::decoder::HeadTensors;
use crate::model::{ModelError, long};
use tch::{Kind, Tensor};

/// How many uniform numbers a number column takes each row, whatever is drawn: for the class, for the mixture's part or
/// the place in a bin, and for the score.
pub(super) const UNIFORMS: usize = 3;

/// The uniform numbers of one draw, `[rows]` each.
#[derive(Debug)]
pub(super) struct Uniforms {
    pub(super) class: Tensor,
    pub(super) part: Tensor,
    pub(super) share: Tensor,
}

impl Uniforms {
    /// Those from a column on.
    pub(super) fn from(all: &Tensor, column: i64) -> Result<Uniforms, ModelError> {
        Ok(Uniforms {
            class: all.f_select(1, column)?,
            part: all.f_select(1, column + 1)?,
            share: all.f_select(1, column + 2)?,
        })
    }
}

/// A [`NumberColumn`].
#[derive(Debug)]
pub(super) struct NumberTensors {
    pub(super) scale: ScaleTensors,
    pub(super) value: CodecTensors,
    /// The codec of the changes, where these are drawn once a value was observed.
    pub(super) change: Option<CodecTensors>,
    whole: Restore,
}

impl NumberTensors {
    pub(super) fn new(
        number: &NumberColumn,
        exchange: &Exchange,
    ) -> Result<NumberTensors, ModelError> {
        let change = match &number.change {
            Some(change) => Some(CodecTensors::new(&change.step, exchange)?),
            None => None,
        };
        Ok(NumberTensors {
            scale: ScaleTensors::new(&number.scale, exchange)?,
            value: CodecTensors::new(number.value(), exchange)?,
            change,
            whole: Restore::new(&number.whole, exchange)?,
        })
    }

    /// A drawn value as the column writes it; a step near the largest float would leave all floats.
    pub(super) fn restore(
        &self,
        values: &Tensor,
        within_range: bool,
    ) -> Result<Tensor, ModelError> {
        let restored = self.whole.values(values, within_range)?;
        Ok(restored.f_clamp(f64::MIN, f64::MAX)?)
    }
}

/// What a [`NumberCodec`] draws: classes, and what they stand for.
#[derive(Debug)]
pub(super) struct CodecTensors {
    /// The value of each class that is an atom, NaN for the others; `[classes]`
    atoms: Tensor,
    bins: Option<Bins>,
    same: Option<Same>,
    continuous: Option<(i64, MapTensors)>,
}

/// The class "same as before".
#[derive(Debug)]
struct Same {
    class: i64,
    /// Whether a class is it, `[1, classes]`
    is_it: Tensor,
}

/// By class its bin's ends, `[classes]` each; all 0 where it is none.
#[derive(Debug)]
struct Bins {
    is_bin: Tensor,
    low: Tensor,
    high: Tensor,
    half_resolution: f64,
}

impl CodecTensors {
    pub(super) fn new(
        codec: &NumberCodec,
        exchange: &Exchange,
    ) -> Result<CodecTensors, ModelError> {
        let classes = codec.classes();
        let shape = [long(classes)];
        let bins: Vec<_> = (0..classes).map(|class| codec.bin(class)).collect();
        let is_other = |class: usize| {
            [codec.same_class(), codec.continuous_class()].contains(&Some(class))
                || codec.bin(class).is_some()
        };
        // Of a class that is an atom the score does not matter, and "missing" is NaN.
        let atom = |class: usize| match is_other(class) {
            true => f64::NAN,
            false => codec.decode(class, 0.0, f64::NAN, true),
        };
        let atoms: Vec<f64> = (0..classes).map(atom).collect();
        let ends = |end: fn(&Bin) -> f64| {
            let ends: Vec<f64> = bins.iter().map(|bin| bin.map_or(0.0, end)).collect();
            exchange.doubles(&ends, &shape)
        };
        let is_bin: Vec<bool> = bins.iter().map(Option::is_some).collect();
        let bins = match codec.bins.is_empty() {
            true => None,
            false => Some(Bins {
                is_bin: exchange.flags(&is_bin, &shape)?,
                low: ends(|bin| bin.low)?,
                high: ends(|bin| bin.high)?,
                half_resolution: codec.resolution() / 2.0,
            }),
        };
        let same = match codec.same_class() {
            Some(same) => {
                let is_it: Vec<bool> = (0..classes).map(|class| class == same).collect();
                Some(Same {
                    class: long(same),
                    is_it: exchange.flags(&is_it, &[1, long(classes)])?,
                })
            }
            None => None,
        };
        let continuous = match (codec.continuous_class(), &codec.continuous) {
            (Some(class), Some(map)) => Some((long(class), MapTensors::new(map, exchange)?)),
            _ => None,
        };
        Ok(CodecTensors {
            atoms: exchange.doubles(&atoms, &shape)?,
            bins,
            same,
            continuous,
        })
    }

    /// The score from which a mixture starts, in f32: that of the last observed value, 0 without one.
    pub(super) fn skip(&self, last: &Tensor) -> Result<Tensor, ModelError> {
        let skip = match &self.continuous {
            Some((_, map)) => map.score(last)?.f_masked_fill(&last.f_isnan()?, 0.0)?,
            None => last.f_zeros_like()?,
        };
        Ok(skip.f_to_kind(Kind::Float)?)
    }

    /// Draws values, not yet rounded. Without `last` nothing can be the same as before.
    pub(super) fn draw(
        &self,
        said: &HeadTensors,
        last: Option<&Tensor>,
        within_range: bool,
        temperature: f64,
        uniforms: &Uniforms,
    ) -> Result<Tensor, ModelError> {
        let banned = match (&self.same, last) {
            (Some(same), Some(last)) => {
                let is_first = last.f_isnan()?.f_unsqueeze(1)?;
                Some(is_first.f_logical_and(&same.is_it)?)
            }
            (Some(same), None) => Some(same.is_it.shallow_clone()),
            (None, _) => None,
        };
        let classes = draws::position(&said.logits, banned.as_ref(), temperature, &uniforms.class)?;
        let scores = match &said.mixture {
            Some(mixture) => draws::score(mixture, temperature, &uniforms.part, &uniforms.share)?,
            None => uniforms.share.f_zeros_like()?,
        };
        self.decode(&classes, &scores, &uniforms.part, last, within_range)
    }

    /// `NumberCodec::decode`; `part` is the share of the way through a bin.
    pub(super) fn decode(
        &self,
        classes: &Tensor,
        scores: &Tensor,
        part: &Tensor,
        last: Option<&Tensor>,
        within_range: bool,
    ) -> Result<Tensor, ModelError> {
        let mut values = self.atoms.f_index_select(0, classes)?;
        if let Some(bins) = &self.bins {
            let is_bin = bins.is_bin.f_index_select(0, classes)?;
            values = choose_where(&is_bin, &bins.values(classes, part)?, &values)?;
        }
        if let (Some(same), Some(last)) = (&self.same, last) {
            values = choose_where(&classes.f_eq(same.class)?, last, &values)?;
        }
        if let Some((class, map)) = &self.continuous {
            let drawn = match within_range {
                true => map.value(scores)?,
                false => map.value_beyond(scores)?,
            };
            values = choose_where(&classes.f_eq(*class)?, &drawn, &values)?;
        }
        Ok(values)
    }
}

impl Bins {
    fn values(&self, classes: &Tensor, share: &Tensor) -> Result<Tensor, ModelError> {
        let low = self.low.f_index_select(0, classes)?;
        let high = self.high.f_index_select(0, classes)?;
        let from = low.f_sub_scalar(self.half_resolution)?;
        let until = high.f_add_scalar(self.half_resolution)?;
        let rest = share.f_neg()?.f_add_scalar(1.0)?;
        let values = from.f_mul(&rest)?.f_add(&until.f_mul(share)?)?;
        Ok(values.f_maximum(&low)?.f_minimum(&high)?)
    }
}

/// `NumberCodec::restore`: how a column writes its values.
#[derive(Debug)]
struct Restore {
    low: f64,
    high: f64,
    written: Written,
}

#[derive(Debug)]
enum Written {
    AsDrawn,
    Support(Sorted),
    Grid {
        grid: GridTensors,
        atoms: Option<Sorted>,
    },
}

/// Rising values among which the nearest is looked for.
#[derive(Debug)]
struct Sorted {
    values: Tensor,
    count: i64,
}

impl Restore {
    fn new(codec: &NumberCodec, exchange: &Exchange) -> Result<Restore, ModelError> {
        let written = match (&codec.support[..], &codec.grid) {
            _ if !codec.is_rounded => Written::AsDrawn,
            ([], None) => Written::AsDrawn,
            ([], Some(grid)) => Written::Grid {
                grid: GridTensors::new(grid, exchange)?,
                atoms: match &codec.atoms[..] {
                    [] => None,
                    atoms => Some(Sorted::new(atoms, exchange)?),
                },
            },
            (support, _) => Written::Support(Sorted::new(support, exchange)?),
        };
        Ok(Restore {
            low: codec.low,
            high: codec.high,
            written,
        })
    }

    fn values(&self, values: &Tensor, within_range: bool) -> Result<Tensor, ModelError> {
        let within = |values: Tensor| -> Result<Tensor, ModelError> {
            match within_range {
                true => Ok(values.f_clamp(self.low, self.high)?),
                false => Ok(values),
            }
        };
        let values = within(values.shallow_clone())?;
        match &self.written {
            Written::AsDrawn => Ok(values),
            Written::Support(support) => {
                let nearest = support.nearest(&values)?;
                choose_where(&values.f_isnan()?, &values, &nearest)
            }
            Written::Grid { grid, atoms } => {
                let rounded = within(grid.round(&values)?)?;
                let Some(atoms) = atoms else {
                    return Ok(rounded);
                };
                let nearest = atoms.nearest(&rounded)?;
                let distance = nearest.f_sub(&rounded)?.f_abs()?;
                let is_atom = distance.f_lt(grid.resolution * SAME_PLACE)?;
                choose_where(&is_atom, &nearest, &rounded)
            }
        }
    }
}

/// A value this close to an atom, in grid steps, is the atom.
const SAME_PLACE: f64 = 1e-6;

/// A [`Grid`]. Divisors lie on the device, one number each: dividing by a number of the host, CUDA multiplies by its
/// inverse, which misses the float that a decimal reads as.
#[derive(Debug)]
struct GridTensors {
    first: f64,
    step: Tensor,
    scale: Tensor,
    resolution: f64,
}

impl GridTensors {
    fn new(grid: &Grid, exchange: &Exchange) -> Result<GridTensors, ModelError> {
        Ok(GridTensors {
            first: grid.first,
            step: exchange.doubles(&[grid.step], &[1])?,
            scale: exchange.doubles(&[grid.scale()], &[1])?,
            resolution: grid.resolution(),
        })
    }

    /// [`Grid::round`].
    fn round(&self, values: &Tensor) -> Result<Tensor, ModelError> {
        let steps = values.f_mul(&self.scale)?.f_sub_scalar(self.first)?;
        let steps = round(&steps.f_div(&self.step)?)?;
        let wholes = steps.f_mul(&self.step)?.f_add_scalar(self.first)?;
        Ok(wholes.f_div(&self.scale)?)
    }
}

impl Sorted {
    fn new(values: &[f64], exchange: &Exchange) -> Result<Sorted, ModelError> {
        Ok(Sorted {
            values: exchange.doubles(values, &[-1])?,
            count: long(values.len()),
        })
    }

    fn nearest(&self, values: &Tensor) -> Result<Tensor, ModelError> {
        let after = values.f_bucketize(&self.values, false, false)?;
        let at = |place: Tensor| -> Result<Tensor, ModelError> {
            let place = place.f_clamp(0_i64, self.count - 1)?;
            Ok(self.values.f_index_select(0, &place)?)
        };
        let before = at(after.f_sub_scalar(1_i64)?)?;
        let next = at(after.shallow_clone())?;
        // At either end both are the outermost.
        let is_before = values
            .f_sub(&before)?
            .f_lt_tensor(&next.f_sub(values)?)?
            .f_logical_or(&after.f_eq(self.count)?)?;
        choose_where(&is_before, &before, &next)
    }
}
