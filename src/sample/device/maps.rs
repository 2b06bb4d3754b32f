//! Quantile maps and scales as tensors: values to normal scores and back, all sequences at once.
//! In: what [`QuantileMap`] and [`NumberScale`] learned. Out: what their functions give, to about nine digits: the
//! normal distribution and its inverse are libtorch's here and statrs' there.

use super::arithmetic::choose_where;
use super::exchange::Exchange;
use crate::codec::number::{FEATURE_LIMIT, NumberScale, QuantileMap, Unit};
use crate::model::{ModelError, long};
use tch::Tensor;

/// A function that is linear between points of rising `x`, and constant outside.
#[derive(Debug)]
struct Curve {
    x: Tensor,
    y: Tensor,
    points: i64,
    first: f64,
    last: f64,
}

impl Curve {
    fn new(x: &[f64], y: &[f64], exchange: &Exchange) -> Result<Curve, ModelError> {
        let points = x.len().min(y.len());
        Ok(Curve {
            x: exchange.doubles(&x[..points], &[-1])?,
            y: exchange.doubles(&y[..points], &[-1])?,
            points: long(points),
            first: y.first().copied().unwrap_or(0.0),
            last: y.last().copied().unwrap_or(0.0),
        })
    }

    fn at(&self, places: &Tensor) -> Result<Tensor, ModelError> {
        let after = places.f_bucketize(&self.x, false, true)?;
        let is_before_all = after.f_eq(0_i64)?;
        let is_after_all = after.f_eq(self.points)?;
        let right = after.f_clamp_max(self.points - 1)?;
        let left = after.f_sub_scalar(1_i64)?.f_clamp_min(0_i64)?;
        let (from, until) = (
            self.x.f_index_select(0, &left)?,
            self.x.f_index_select(0, &right)?,
        );
        let (low, high) = (
            self.y.f_index_select(0, &left)?,
            self.y.f_index_select(0, &right)?,
        );
        let share = places.f_sub(&from)?.f_div(&until.f_sub(&from)?)?;
        let rise = high.f_sub(&low)?;
        let along = low.f_add(&rise.f_mul(&share)?)?;
        // From one end of the floats to the other is further than they reach.
        let apart = share
            .f_neg()?
            .f_add_scalar(1.0)?
            .f_mul(&low)?
            .f_add(&high.f_mul(&share)?)?;
        Ok(choose_where(&rise.f_isfinite()?, &along, &apart)?
            .f_masked_fill(&is_before_all, self.first)?
            .f_masked_fill(&is_after_all, self.last)?)
    }
}

/// A [`QuantileMap`].
#[derive(Debug)]
pub(super) struct MapTensors {
    shares_of_places: Curve,
    places_of_shares: Curve,
    margin: f64,
    unit: Unit,
    /// How values go on below the outermost scores, and above them.
    tails: [Tail; 2],
}

/// The straight line that places keep to beyond an outermost score; one number each.
#[derive(Debug)]
struct Tail {
    end: Tensor,
    place: Tensor,
    slope: Tensor,
}

impl MapTensors {
    pub(super) fn new(map: &QuantileMap, exchange: &Exchange) -> Result<MapTensors, ModelError> {
        let shares_of_places = Curve::new(&map.knots, &map.shares, exchange)?;
        let places_of_shares = Curve::new(&map.shares, &map.knots, exchange)?;
        let end = |share: f64| -> Result<Tensor, ModelError> {
            let share = share.clamp(map.margin, 1.0 - map.margin);
            Ok(exchange.doubles(&[share], &[1])?.f_special_ndtri()?)
        };
        let (low, high) = (end(shares_of_places.first)?, end(shares_of_places.last)?);
        let inwards = [
            low.f_add_scalar(1.0)?.f_minimum(&high)?,
            high.f_sub_scalar(1.0)?.f_maximum(&low)?,
        ];
        let tail = |end: &Tensor, inwards: &Tensor| -> Result<Tail, ModelError> {
            let place = |score: &Tensor| places_of_shares.at(&score.f_special_ndtr()?);
            let at_end = place(end)?;
            let rise = at_end.f_sub(&place(inwards)?)?.f_abs()?;
            let width = end.f_sub(inwards)?.f_abs()?;
            let slope = rise.f_div(&width)?.f_masked_fill(&width.f_eq(0.0)?, 0.0)?;
            Ok(Tail {
                end: end.shallow_clone(),
                place: at_end,
                slope,
            })
        };
        let tails = [tail(&low, &inwards[0])?, tail(&high, &inwards[1])?];
        Ok(MapTensors {
            shares_of_places,
            places_of_shares,
            margin: map.margin,
            unit: map.unit,
            tails,
        })
    }

    /// [`QuantileMap::score`].
    pub(super) fn score(&self, values: &Tensor) -> Result<Tensor, ModelError> {
        let shares = self.shares_of_places.at(&self.unit_of(values)?)?;
        Ok(shares
            .f_clamp(self.margin, 1.0 - self.margin)?
            .f_special_ndtri()?)
    }

    fn place(&self, scores: &Tensor) -> Result<Tensor, ModelError> {
        self.places_of_shares.at(&scores.f_special_ndtr()?)
    }

    /// [`QuantileMap::value`].
    pub(super) fn value(&self, scores: &Tensor) -> Result<Tensor, ModelError> {
        self.of_unit(&self.place(scores)?)
    }

    /// `QuantileMap::value_beyond`.
    pub(super) fn value_beyond(&self, scores: &Tensor) -> Result<Tensor, ModelError> {
        let [below, above] = &self.tails;
        let on = |tail: &Tail| -> Result<Tensor, ModelError> {
            let value = scores
                .f_sub(&tail.end)?
                .f_mul(&tail.slope)?
                .f_add(&tail.place)?;
            Ok(self.of_unit(&value)?.f_clamp(self.unit.least(), f64::MAX)?)
        };
        let values = self.value(scores)?;
        let values = choose_where(&scores.f_lt_tensor(&below.end)?, &on(below)?, &values)?;
        choose_where(&scores.f_gt_tensor(&above.end)?, &on(above)?, &values)
    }

    /// `Unit::of`.
    fn unit_of(&self, values: &Tensor) -> Result<Tensor, ModelError> {
        match self.unit {
            Unit::Plain | Unit::Count => Ok(values.shallow_clone()),
            Unit::Logarithm { floor } => Ok(values
                .f_clamp_min(floor)?
                .f_log()?
                .f_clamp_max(self.unit.of(f64::MAX))?),
        }
    }

    fn of_unit(&self, places: &Tensor) -> Result<Tensor, ModelError> {
        match self.unit {
            Unit::Plain | Unit::Count => Ok(places.shallow_clone()),
            Unit::Logarithm { .. } => Ok(places.f_exp()?),
        }
    }
}

/// A [`NumberScale`].
#[derive(Debug)]
pub(super) struct ScaleTensors {
    map: MapTensors,
    mean: f64,
    deviation: f64,
    change_deviation: f64,
}

impl ScaleTensors {
    pub(super) fn new(
        scale: &NumberScale,
        exchange: &Exchange,
    ) -> Result<ScaleTensors, ModelError> {
        Ok(ScaleTensors {
            map: MapTensors::new(&scale.map, exchange)?,
            mean: scale.mean,
            deviation: scale.deviation,
            change_deviation: scale.change_deviation,
        })
    }

    /// [`NumberScale::score`].
    pub(super) fn score(&self, values: &Tensor) -> Result<Tensor, ModelError> {
        self.map.score(values)
    }

    /// [`NumberScale::standard`].
    pub(super) fn standard(&self, values: &Tensor) -> Result<Tensor, ModelError> {
        let places = self.map.unit_of(values)?;
        clipped_ratio(&places.f_sub_scalar(self.mean)?, self.deviation)
    }

    /// [`NumberScale::change`].
    pub(super) fn change(&self, from: &Tensor, to: &Tensor) -> Result<Tensor, ModelError> {
        let difference = self.map.unit_of(to)?.f_sub(&self.map.unit_of(from)?)?;
        clipped_ratio(&difference, self.change_deviation)
    }
}

fn clipped_ratio(values: &Tensor, unit: f64) -> Result<Tensor, ModelError> {
    match unit > 0.0 {
        true => Ok(values
            .f_div_scalar(unit)?
            .f_clamp(-FEATURE_LIMIT, FEATURE_LIMIT)?),
        false => Ok(values.f_zeros_like()?),
    }
}
