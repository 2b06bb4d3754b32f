//! From live types to the frozen ones.

use super::*;

impl ArtifactV1 {
    /// Turns the crate's types into the file's.
    pub(in crate::artifact) fn freeze(artifact: &Artifact) -> Result<ArtifactV1, Flaw> {
        let Artifact {
            saved_by,
            metadata,
            schema,
            layout,
            identifiers,
            rules,
            personal,
            spreads,
            report,
            options,
            sizes,
            context,
            sequence,
            provenance,
        } = artifact;
        let context_plan = ContextShape::new(layout, *sizes).plan();
        let sequence_plan = SequenceShape::new(layout, *sizes).plan();
        Ok(ArtifactV1 {
            versions: saved_by.into(),
            metadata: Text(metadata.to_json()),
            columns: schema.columns.iter().map(ColumnV1::from).collect(),
            layout: layout.into(),
            identifiers: identifiers
                .iter()
                .map(|codec| codec.as_ref().map(IdentifierCodecV1::from))
                .collect(),
            report: report.into(),
            options: options.into(),
            sizes: (*sizes).into(),
            context: tensors(&context_plan, context)?,
            sequence: tensors(&sequence_plan, sequence)?,
            constraints: Text(Constraint::list_to_json(&rules.constraints)),
            learned: rules.learned.iter().map(LearnedV1::from).collect(),
            provenance: provenance.into(),
            personal: personal
                .iter()
                .map(|codec| codec.as_ref().map(PersonalCodecV1::from))
                .collect(),
            spreads: spreads.iter().map(SpreadV1::from).collect(),
        })
    }
}

impl From<&Learned> for LearnedV1 {
    fn from(learned: &Learned) -> Self {
        match learned {
            Learned::Nothing => LearnedV1::Nothing,
            Learned::Combinations(Combinations(seen)) => LearnedV1::Combinations(seen.clone()),
            Learned::Transitions(Transitions(seen)) => LearnedV1::Transitions(seen.clone()),
            Learned::RunningTotal { begins_with_amount } => LearnedV1::RunningTotal {
                begins_with_amount: *begins_with_amount,
            },
        }
    }
}

/// Cuts a buffer into the plan's tensors.
fn tensors(plan: &Plan, mut values: &[f32]) -> Result<Vec<TensorV1>, Flaw> {
    let mut tensors = Vec::with_capacity(plan.entries.len());
    for entry in &plan.entries {
        let count = usize::try_from(entry.numel()).unwrap_or(usize::MAX);
        let Some((own, rest)) = values.split_at_checked(count) else {
            return Err(Flaw::Invalid {
                place: format!("weight `{}`", entry.name),
                problem: "the buffer ends before it".to_owned(),
            });
        };
        values = rest;
        tensors.push(TensorV1 {
            name: (&entry.name).into(),
            shape: entry.shape.iter().map(|n| n.unsigned_abs()).collect(),
            values: own.to_vec(),
        });
    }
    Ok(tensors)
}

impl From<&Versions> for VersionsV1 {
    fn from(versions: &Versions) -> Self {
        VersionsV1 {
            parsynth: (&versions.parsynth).into(),
            libtorch: (&versions.libtorch).into(),
        }
    }
}

impl From<&Provenance> for ProvenanceV1 {
    fn from(provenance: &Provenance) -> Self {
        let Provenance {
            created,
            fitted,
            fitted_by,
        } = provenance;
        ProvenanceV1 {
            created: *created,
            fitted: *fitted,
            fitted_by: fitted_by.into(),
        }
    }
}

impl From<&ColumnSchema> for ColumnV1 {
    fn from(column: &ColumnSchema) -> Self {
        // Sdtype and part in the key follow from metadata and role.
        let ColumnSchema {
            name,
            sdtype: _,
            role,
            is_key: _,
            storage,
            base,
            step,
        } = column;
        ColumnV1 {
            name: name.into(),
            role: match role {
                Role::SequenceKey => RoleV1::SequenceKey,
                Role::SequenceIndex => RoleV1::SequenceIndex,
                Role::Context => RoleV1::Context,
                Role::Sequential => RoleV1::Sequential,
            },
            storage: storage.into(),
            base: *base,
            step: *step,
        }
    }
}

impl From<IntegerType> for IntegerTypeV1 {
    fn from(integer: IntegerType) -> Self {
        match integer {
            IntegerType::I8 => IntegerTypeV1::I8,
            IntegerType::I16 => IntegerTypeV1::I16,
            IntegerType::I32 => IntegerTypeV1::I32,
            IntegerType::I64 => IntegerTypeV1::I64,
            IntegerType::U8 => IntegerTypeV1::U8,
            IntegerType::U16 => IntegerTypeV1::U16,
            IntegerType::U32 => IntegerTypeV1::U32,
            IntegerType::U64 => IntegerTypeV1::U64,
        }
    }
}

impl From<TimeUnitName> for TimeUnitNameV1 {
    fn from(unit: TimeUnitName) -> Self {
        match unit {
            TimeUnitName::Nanoseconds => TimeUnitNameV1::Nanoseconds,
            TimeUnitName::Microseconds => TimeUnitNameV1::Microseconds,
            TimeUnitName::Milliseconds => TimeUnitNameV1::Milliseconds,
        }
    }
}

impl From<&Storage> for StorageV1 {
    fn from(storage: &Storage) -> Self {
        match storage {
            Storage::Boolean => StorageV1::Boolean,
            Storage::Integer(integer) => StorageV1::Integer((*integer).into()),
            Storage::Float32 => StorageV1::Float32,
            Storage::Float64 => StorageV1::Float64,
            Storage::Text => StorageV1::Text,
            Storage::Categorical => StorageV1::Categorical,
            Storage::Enumeration(categories) => {
                StorageV1::Enumeration(categories.iter().map(Text::from).collect())
            }
            Storage::Date => StorageV1::Date,
            Storage::Duration { unit } => StorageV1::Duration {
                unit: (*unit).into(),
            },
            Storage::Datetime { unit, zone } => StorageV1::Datetime {
                unit: (*unit).into(),
                zone: zone.as_ref().map(Text::from),
            },
            Storage::TextDate { format } => StorageV1::TextDate {
                format: format.into(),
            },
            Storage::IntegerDate { format, integer } => StorageV1::IntegerDate {
                format: format.into(),
                integer: (*integer).into(),
            },
            Storage::Null => StorageV1::Null,
        }
    }
}

impl From<&Label> for LabelV1 {
    fn from(label: &Label) -> Self {
        match label {
            Label::Boolean(value) => LabelV1::Boolean(*value),
            Label::Integer(value) => LabelV1::Integer(*value),
            Label::Float(value) => LabelV1::Float(*value),
            Label::Text(value) => LabelV1::Text(value.into()),
        }
    }
}

impl From<&CategoryCodec> for CategoryCodecV1 {
    fn from(codec: &CategoryCodec) -> Self {
        let CategoryCodec {
            labels,
            has_missing,
            has_hidden,
        } = codec;
        CategoryCodecV1 {
            labels: labels.iter().map(LabelV1::from).collect(),
            has_missing: *has_missing,
            has_hidden: *has_hidden,
        }
    }
}

impl From<&QuantileMap> for QuantileMapV1 {
    fn from(map: &QuantileMap) -> Self {
        let QuantileMap {
            knots,
            shares,
            margin,
            unit,
        } = map;
        QuantileMapV1 {
            knots: knots.to_vec(),
            shares: shares.to_vec(),
            margin: *margin,
            unit: match *unit {
                Unit::Plain => UnitV1::Plain,
                Unit::Logarithm { floor } => UnitV1::Logarithm { floor },
                Unit::Count => UnitV1::Count,
            },
        }
    }
}

impl From<&NumberCodec> for NumberCodecV1 {
    fn from(codec: &NumberCodec) -> Self {
        let NumberCodec {
            low,
            high,
            grid,
            support,
            has_missing,
            has_same,
            atoms,
            continuous,
            bins,
            is_rounded,
        } = codec;
        NumberCodecV1 {
            low: *low,
            high: *high,
            grid: grid.as_ref().map(GridV1::from),
            support: support.clone(),
            has_missing: *has_missing,
            has_same: *has_same,
            atoms: atoms.clone(),
            continuous: continuous.as_ref().map(QuantileMapV1::from),
            bins: bins
                .iter()
                .map(|&Bin { low, high }| BinV1 { low, high })
                .collect(),
            is_rounded: *is_rounded,
        }
    }
}

impl From<&NumberScale> for NumberScaleV1 {
    fn from(scale: &NumberScale) -> Self {
        let NumberScale {
            map,
            mean,
            deviation,
            change_deviation,
        } = scale;
        NumberScaleV1 {
            map: map.into(),
            mean: *mean,
            deviation: *deviation,
            change_deviation: *change_deviation,
        }
    }
}

impl From<&NumberColumn> for NumberColumnV1 {
    fn from(column: &NumberColumn) -> Self {
        let NumberColumn {
            scale,
            whole,
            change,
        } = column;
        NumberColumnV1 {
            scale: scale.into(),
            whole: whole.into(),
            change: change.as_ref().map(|change| ChangeCodecV1 {
                first: (&change.first).into(),
                step: (&change.step).into(),
            }),
        }
    }
}

impl From<&Grid> for GridV1 {
    fn from(grid: &Grid) -> Self {
        let Grid {
            decimals,
            first,
            step,
        } = *grid;
        GridV1 {
            decimals,
            first,
            step,
        }
    }
}

impl From<&RowColumn> for RowColumnV1 {
    fn from(column: &RowColumn) -> Self {
        RowColumnV1 {
            source: match column.source {
                RowSource::Gap => RowSourceV1::Gap,
                RowSource::Column(column) => RowSourceV1::Column(column as u64),
            },
            kind: match &column.kind {
                RowKind::Category(codec) => RowKindV1::Category(codec.into()),
                RowKind::Number(number) => RowKindV1::Number(Box::new(number.as_ref().into())),
            },
            reference: column.reference.as_ref().map(|reference| ReferenceV1 {
                column: reference.column as u64,
                range: reference.range,
                grid: reference.grid.as_ref().map(GridV1::from),
            }),
        }
    }
}

impl From<&ContextColumn> for ContextColumnV1 {
    fn from(column: &ContextColumn) -> Self {
        ContextColumnV1 {
            source: match column.source {
                ContextSource::Column(column) => ContextSourceV1::Column(column as u64),
                ContextSource::TimeOfDay => ContextSourceV1::TimeOfDay,
                ContextSource::Start => ContextSourceV1::Start,
                ContextSource::EndsWithTable => ContextSourceV1::EndsWithTable,
                ContextSource::Length => ContextSourceV1::Length,
            },
            kind: match &column.kind {
                ContextKind::Category(codec) => ContextKindV1::Category(codec.into()),
                ContextKind::Number { codec, scale } => {
                    ContextKindV1::Number(Box::new(ContextNumberV1 {
                        codec: codec.into(),
                        scale: scale.into(),
                    }))
                }
            },
        }
    }
}

impl From<&IndexCodec> for IndexCodecV1 {
    fn from(codec: &IndexCodec) -> Self {
        let IndexCodec {
            unit,
            months,
            splits_time_of_day,
            cycles,
            scale,
            elapsed,
            longest_elapsed,
            last,
            median_gap,
            is_censored,
        } = codec;
        IndexCodecV1 {
            unit: unit.map(|unit| {
                let TimeUnit {
                    seconds_per_raw_unit,
                    base,
                    step,
                    least_gap: _, // follows from the column's format
                } = unit;
                TimeUnitV1 {
                    seconds_per_raw_unit,
                    base,
                    step,
                }
            }),
            months: months.as_ref().map(|months| {
                let MonthGrid { day, time_of_day } = *months;
                MonthGridV1 { day, time_of_day }
            }),
            splits_time_of_day: *splits_time_of_day,
            cycles: cycles
                .iter()
                .map(|cycle| {
                    let Cycle {
                        period,
                        origin,
                        harmonics,
                    } = cycle;
                    CycleV1 {
                        period: *period,
                        origin: *origin,
                        harmonics: harmonics.clone(),
                    }
                })
                .collect(),
            scale: scale.into(),
            elapsed: elapsed.into(),
            longest_elapsed: *longest_elapsed,
            last: *last,
            median_gap: *median_gap,
            is_censored: *is_censored,
        }
    }
}

impl From<&Layout> for LayoutV1 {
    fn from(layout: &Layout) -> Self {
        let Layout {
            context,
            rows,
            index,
            longest,
        } = layout;
        LayoutV1 {
            context: context.iter().map(ContextColumnV1::from).collect(),
            rows: rows.iter().map(RowColumnV1::from).collect(),
            index: index.as_ref().map(IndexCodecV1::from),
            longest: *longest as u64,
        }
    }
}

impl From<&IdentifierCodec> for IdentifierCodecV1 {
    fn from(codec: &IdentifierCodec) -> Self {
        match codec {
            IdentifierCodec::Counter {
                prefix,
                digits,
                next,
                smallest,
                suffix,
            } => IdentifierCodecV1::Counter {
                prefix: prefix.into(),
                digits: *digits as u64,
                next: *next,
                smallest: *smallest,
                suffix: suffix.into(),
            },
            IdentifierCodec::Pattern {
                regex,
                taken,
                hash_key,
            } => IdentifierCodecV1::Pattern {
                regex: regex.into(),
                taken: taken.clone(),
                hash_key: *hash_key,
            },
        }
    }
}

impl From<&PersonalCodec> for PersonalCodecV1 {
    fn from(codec: &PersonalCodec) -> Self {
        let PersonalCodec {
            kind: _,
            locales,
            taken,
            hash_key,
            is_exhausted,
            is_unique,
            digits,
            decimals,
        } = codec;
        PersonalCodecV1 {
            locales: locales
                .iter()
                .map(|locale| Text(locale.name().to_owned()))
                .collect(),
            taken: taken.clone(),
            hash_key: *hash_key,
            is_exhausted: *is_exhausted,
            is_unique: *is_unique,
            digits: *digits,
            decimals: *decimals,
        }
    }
}

impl From<&Spread> for SpreadV1 {
    fn from(spread: &Spread) -> Self {
        let Spread {
            is_constant,
            missing_share,
        } = *spread;
        SpreadV1 {
            is_constant,
            missing_share,
        }
    }
}

impl From<&EpochLoss> for EpochLossV1 {
    fn from(loss: &EpochLoss) -> Self {
        let EpochLoss {
            stage,
            epoch,
            training_nats,
            validation_nats,
            training_nats_per_column,
            validation_nats_per_column,
            learning_rate,
        } = loss;
        let per_column = |losses: &Vec<(String, f64)>| {
            losses
                .iter()
                .map(|(column, nats)| (Text::from(column), *nats))
                .collect()
        };
        EpochLossV1 {
            stage: match stage {
                Stage::Context => StageV1::Context,
                Stage::Sequence => StageV1::Sequence,
            },
            epoch: *epoch as u64,
            training_nats: *training_nats,
            validation_nats: *validation_nats,
            training_nats_per_column: per_column(training_nats_per_column),
            validation_nats_per_column: validation_nats_per_column.as_ref().map(per_column),
            learning_rate: *learning_rate,
        }
    }
}

impl From<&FitReport> for FitReportV1 {
    fn from(report: &FitReport) -> Self {
        let FitReport {
            losses,
            kept_epoch,
            epochs,
            rows,
            training_sequences,
            validation_sequences,
            weights,
            fit_secs,
            warnings,
            sequences,
            segments,
        } = report;
        FitReportV1 {
            losses: losses.iter().map(EpochLossV1::from).collect(),
            kept_epoch: *kept_epoch as u64,
            epochs: *epochs as u64,
            rows: *rows as u64,
            training_sequences: *training_sequences as u64,
            validation_sequences: *validation_sequences as u64,
            weights: *weights as u64,
            fit_secs: *fit_secs,
            warnings: warnings.iter().map(Text::from).collect(),
            sequences: *sequences as u64,
            segments: segments.map(|n| n as u64),
        }
    }
}

impl From<&ValidFitOptions> for FitOptionsV1 {
    fn from(options: &ValidFitOptions) -> Self {
        let ValidFitOptions {
            hidden_size,
            layers,
            epochs,
            batch_size,
            learning_rate,
            dropout,
            validation_share,
            patience_steps,
            max_training_time,
            enforce_min_max,
            value_protection,
            seed,
            threads,
            enforce_rounding,
            segment_size,
            numerical_distributions,
            mixed_precision,
        } = options;
        FitOptionsV1 {
            hidden_size: *hidden_size as u64,
            layers: *layers as u64,
            epochs: epochs.map(|n| n as u64),
            batch_size: batch_size.map(|n| n as u64),
            learning_rate: *learning_rate,
            dropout: *dropout,
            validation_share: *validation_share,
            patience_steps: *patience_steps as u64,
            max_training_time: max_training_time.map(|time| DurationV1 {
                seconds: time.as_secs(),
                nanoseconds: time.subsec_nanos(),
            }),
            enforce_min_max: *enforce_min_max,
            value_protection: *value_protection as u64,
            seed: *seed,
            threads: *threads as u64,
            enforce_rounding: *enforce_rounding,
            segment_size: segment_size.map(|n| n as u64),
            numerical_distributions: numerical_distributions
                .iter()
                .map(|(column, distribution)| (column.into(), (*distribution).into()))
                .collect(),
            mixed_precision: *mixed_precision,
        }
    }
}

impl From<NumericalDistribution> for NumericalDistributionV1 {
    fn from(distribution: NumericalDistribution) -> Self {
        match distribution {
            NumericalDistribution::Learned => NumericalDistributionV1::Learned,
            NumericalDistribution::Bins(bins) => NumericalDistributionV1::Bins(bins as u64),
            NumericalDistribution::Logarithmic => NumericalDistributionV1::Logarithmic,
            NumericalDistribution::Counts => NumericalDistributionV1::Counts,
        }
    }
}

impl From<Sizes> for SizesV1 {
    fn from(sizes: Sizes) -> Self {
        // Hidden size and layers are among the options.
        let Sizes {
            hidden: _,
            layers: _,
            embedding,
            head,
            components,
        } = sizes;
        SizesV1 {
            embedding: embedding.unsigned_abs(),
            head: head.unsigned_abs(),
            components: components.unsigned_abs(),
        }
    }
}
