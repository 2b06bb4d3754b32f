//! The metrics of SDMetrics 0.32 on plain slices, equal to its own to 1e-9, and sounder ones under names of their own.
