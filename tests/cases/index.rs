//! The sequence index: order, gaps, starts, dtypes.

use crate::common::*;
use chrono::{Datelike, NaiveDate};
use parsynth::{Constraint, SampleOptions, SdType::Numerical};
use polars::prelude::*;

/// Ten keys, ten rising days each, with gaps of 1 to 9 days.
fn irregular_days() -> DataFrame {
    let noise = noise(100);
    let days: Vec<i32> = noise
        .chunks(10)
        .flat_map(|chunk| {
            chunk.iter().scan(18_000, |day, share| {
                *day += 1 + (share * 9.0) as i32;
                Some(*day)
            })
        })
        .collect();
    df!("k" => keys(&[10; 10]), "t" => dates(&days), "v" => noise).unwrap()
}

#[test]
fn sampled_days_rise_within_each_key() {
    let columns = [("k", id()), ("t", datetime()), ("v", Numerical)];
    for epochs in [0, 2] {
        let data = irregular_days();
        let synthesizer = untrained(&columns).epochs(epochs).fit(&data).unwrap();
        let sampled = sample(&synthesizer, SampleOptions::sequences(10).length(50));
        let gaps = gaps(&sampled, "t");
        assert_eq!(gaps.len(), 490);
        assert!(gaps.iter().all(|gap| (1..10).contains(gap)), "{gaps:?}");
    }
}

#[test]
fn ties_are_sampled_where_training_had_ties_and_never_a_step_back() {
    let days = [1, 1, 2, 4, 4, 5, 5, 5, 6, 8];
    let data = df!("k" => keys(&[5, 5]), "t" => dates(&days)).unwrap();
    let columns = [("k", id()), ("t", datetime())];
    let synthesizer = untrained(&columns).fit(&data).unwrap();
    let gaps = gaps(&sample(&synthesizer, SampleOptions::sequences(50)), "t");
    assert!(gaps.iter().all(|gap| (0..=2).contains(gap)), "{gaps:?}");
    assert!(gaps.contains(&0));
}

#[test]
fn a_fixed_step_stays_that_step() {
    let hours: Vec<i64> = (0..5)
        .flat_map(|key| (0..24).map(move |hour| (key * 1_000 + hour) * HOUR_MILLISECONDS))
        .collect();
    let time = moments(&hours, TimeUnit::Milliseconds, None);
    let data = df!("k" => keys(&[24; 5]), "t" => time, "v" => noise(120)).unwrap();
    let columns = [("k", id()), ("t", datetime()), ("v", Numerical)];
    let synthesizer = untrained(&columns).fit(&data).unwrap();
    let gaps = gaps(&sample(&synthesizer, SampleOptions::sequences(5)), "t");
    assert_eq!(gaps, [HOUR_MILLISECONDS; 23 * 5]);
}

#[test]
fn gaps_of_few_values_stay_those_values() {
    let seconds: Vec<i64> = (0..6)
        .flat_map(|key| (0..30).map(move |row| key * 100_000 + row / 3 * 602 + row % 3))
        .collect();
    let time = moments(
        &seconds.iter().map(|s| s * 1_000_000).collect::<Vec<_>>(),
        TimeUnit::Microseconds,
        None,
    );
    let data = df!("k" => keys(&[30; 6]), "t" => time).unwrap();
    let columns = [("k", id()), ("t", datetime())];
    let synthesizer = untrained(&columns).fit(&data).unwrap();
    let mut gaps = gaps(&sample(&synthesizer, SampleOptions::sequences(20)), "t");
    gaps.sort_unstable();
    gaps.dedup();
    assert_eq!(gaps, [1_000_000, 600_000_000]);
}

#[test]
fn time_goes_on_past_the_training_maximum_when_more_rows_are_asked_for() {
    let time: Vec<i64> = [0, 3, 5, 9, 11, 0, 1, 4, 8, 9]
        .map(|hour| hour * HOUR_MILLISECONDS)
        .to_vec();
    let last = 11 * HOUR_MILLISECONDS;
    let time = moments(&time, TimeUnit::Milliseconds, None);
    let data = df!("k" => keys(&[5, 5]), "t" => time).unwrap();
    let columns = [("k", id()), ("t", datetime())];
    let synthesizer = untrained(&columns)
        .enforce_min_max_values(true)
        .fit(&data)
        .unwrap();
    let sampled = sample(&synthesizer, SampleOptions::sequences(1).length(25));
    assert_eq!(sampled.height(), 25);
    assert!(gaps(&sampled, "t").iter().all(|gap| *gap > 0));
    assert!(*wholes(&sampled, "t").last().unwrap() > last);
}

#[test]
fn starts_span_the_years_that_real_starts_span() {
    let mut noise = noise(20);
    noise.sort_unstable_by(f64::total_cmp); // the last to start is short
    let lengths: Vec<usize> = (0..20).map(|key| 4 + key % 9).collect();
    let mut days = Vec::new();
    for (&length, share) in lengths.iter().zip(&noise) {
        let start = 16_071 + (share * 3_600.0) as i32; // 2014 to 2023
        days.extend((0..length).map(|row| start + 7 * row as i32 + (row * row) as i32 % 3));
    }
    let data = df!("k" => keys(&lengths), "t" => dates(&days)).unwrap();
    let columns = [("k", id()), ("t", datetime())];
    let synthesizer = untrained(&columns).epochs(40).fit(&data).unwrap();
    let sampled = sample(&synthesizer, SampleOptions::sequences(200));
    let span = |frame: &DataFrame| {
        let days = wholes(frame, "t");
        let mut starts: Vec<i64> = sequences(frame).iter().map(|r| days[r.start]).collect();
        starts.sort_unstable();
        (starts[starts.len() / 20], starts[starts.len() * 19 / 20])
    };
    let ((real_low, real_high), (low, high)) = (span(&data), span(&sampled));
    let slack = (real_high - real_low) / 5;
    assert!((low - real_low).abs() < slack, "{low} for {real_low}");
    assert!((high - real_high).abs() < slack, "{high} for {real_high}");
    let last = *wholes(&data, "t").iter().max().unwrap();
    assert!(wholes(&sampled, "t").iter().any(|day| *day > last));
}

#[test]
fn a_step_counter_of_any_number_dtype_is_an_index() {
    let columns = [("k", id()), ("t", Numerical), ("v", Numerical)];
    let steps: Vec<i64> = (0..4).flat_map(|_| 0..6).collect();
    for dtype in [
        DataType::Int64,
        DataType::Int8,
        DataType::UInt16,
        DataType::Float64,
        DataType::Float32,
    ] {
        let time = Series::new("".into(), &steps).cast(&dtype).unwrap();
        let data = df!("k" => keys(&[6; 4]), "t" => time, "v" => noise(24)).unwrap();
        let synthesizer = untrained(&columns).fit(&data).unwrap();
        let sampled = sample(&synthesizer, SampleOptions::sequences(3));
        assert_eq!(sampled.schema(), data.schema());
        assert_eq!(
            wholes(&sampled, "t"),
            [0, 1, 2, 3, 4, 5].repeat(3),
            "{dtype}"
        );
    }
}

#[test]
fn a_counter_at_the_end_of_its_dtype_never_stands_still() {
    let steps: Vec<i8> = (0..3)
        .flat_map(|key| (0..8).map(move |row| 120 - 8 * key + row))
        .collect();
    let data = df!("k" => keys(&[8; 3]), "t" => steps).unwrap();
    let columns = [("k", id()), ("t", Numerical)];
    let synthesizer = untrained(&columns).fit(&data).unwrap();
    // Sequences of drawn length end where the dtype does.
    let sampled = sample(&synthesizer, SampleOptions::sequences(50));
    assert!(gaps(&sampled, "t").iter().all(|gap| *gap == 1));
    let options = SampleOptions::sequences(5).length(40);
    let error = synthesizer.sample_with(&options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "sequence index column `t` goes on past the last value of i8; ask for shorter sequences, or fit it with a wider \
         dtype"
    );
}

#[test]
fn an_index_over_all_of_its_dtype_ends_within_it_unless_a_length_is_asked_for() {
    // In f64 the last of 64 bits is one more than it is; a step of half the dtype must not end there.
    let t = [i64::MIN, i64::MIN + 1, i64::MIN + 1, i64::MIN + 1, 9];
    let data = df!("k" => keys(&[5]), "t" => t).unwrap();
    let columns = [("k", id()), ("t", Numerical)];
    let synthesizer = untrained(&columns).fit(&data).unwrap();
    for seed in 0..50 {
        let options = SampleOptions::sequences(5).seed(seed).threads(1);
        let sampled = synthesizer.sample_with(&options).unwrap();
        let t = wholes(&sampled, "t");
        for rows in sequences(&sampled) {
            assert!(t[rows].windows(2).all(|pair| pair[0] <= pair[1]));
        }
    }
}

#[test]
fn text_dates_at_the_last_year_never_stand_still() {
    let days: Vec<String> = (20..=31).map(|day| format!("9999-12-{day}")).collect();
    let data = df!("k" => keys(&[6, 6]), "t" => days).unwrap();
    let columns = [("k", id()), ("t", datetime_as("%Y-%m-%d"))];
    let synthesizer = untrained(&columns).fit(&data).unwrap();
    let sampled = sample(&synthesizer, SampleOptions::sequences(50));
    for rows in sequences(&sampled) {
        let days = &texts(&sampled, "t")[rows];
        assert!(days.windows(2).all(|pair| pair[0] < pair[1]), "{days:?}");
    }
    let options = SampleOptions::sequences(1).length(20);
    let error = synthesizer.sample_with(&options).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("sequence index column `t` goes on past")
    );
}

#[test]
fn fractions_of_a_step_are_kept() {
    let steps: Vec<f64> = (0..4)
        .flat_map(|_| (0..6).map(|row| f64::from(row) * 0.25))
        .collect();
    let data = df!("k" => keys(&[6; 4]), "t" => steps).unwrap();
    let columns = [("k", id()), ("t", Numerical)];
    let synthesizer = untrained(&columns).fit(&data).unwrap();
    let sampled = sample(&synthesizer, SampleOptions::sequences(1));
    let quarters = [0.0, 0.25, 0.5, 0.75, 1.0, 1.25].map(Some);
    assert_eq!(reals(&sampled, "t"), quarters);
}

#[test]
fn a_step_of_a_tenth_gives_the_floats_that_its_decimals_read() {
    let tenths: Vec<f64> = (0..40).map(|row| f64::from(row % 10) / 10.0).collect();
    let data = df!["k" => keys(&[10; 4]), "t" => tenths, "v" => vec![1_i64; 40]].unwrap();
    let numerical = || parsynth::SdType::Numerical;
    let columns = [("k", id()), ("t", numerical()), ("v", numerical())];
    let synthesizer = untrained(&columns).fit(&data).unwrap();
    let sampled = sample(&synthesizer, SampleOptions::sequences(1).length(30));
    let wanted: Vec<Option<f64>> = (0..30).map(|row| Some(f64::from(row) / 10.0)).collect();
    // Exactly: 0.1 added thirty times is not 3.0, and nobody's data holds 0.30000000000000004.
    assert_eq!(reals(&sampled, "t"), wanted);
}

#[test]
fn without_an_index_the_order_of_the_rows_is_the_order() {
    let counts: Vec<i64> = (0..6).flat_map(|_| 0..5).collect();
    let letters = ["a", "b", "c", "d", "e"].repeat(6);
    let data = df!("k" => keys(&[5; 6]), "v" => counts, "c" => letters).unwrap();
    let columns = [
        ("k", id()),
        ("v", Numerical),
        ("c", parsynth::SdType::Categorical),
    ];
    let synthesizer = untrained(&columns).fit(&data).unwrap();
    let sampled = sample(&synthesizer, SampleOptions::sequences(3));
    assert_eq!(sampled.schema(), data.schema());
    // Counts go up by one in the order of the input; other orders would have other changes.
    assert_eq!(wholes(&sampled, "v"), [0, 1, 2, 3, 4].repeat(3));
}

#[test]
fn a_filtered_sliced_or_chunked_frame_gives_the_model_of_its_rows() {
    let whole = irregular_days();
    let columns = [("k", id()), ("t", datetime()), ("v", Numerical)];
    let fit_and_sample = |frame: &DataFrame| {
        let synthesizer = untrained(&columns).epochs(2).fit(frame).unwrap();
        sample(&synthesizer, SampleOptions::sequences(5))
    };
    // The first three rows of every other key go.
    let keep: BooleanChunked = (0..100)
        .map(|row| row / 10 % 2 == 0 || row % 10 > 2)
        .collect();
    let filtered = whole.filter(&keep).unwrap();
    let rebuilt = df!(
        "k" => texts(&filtered, "k"),
        "t" => dates(&wholes(&filtered, "t").iter().map(|d| *d as i32).collect::<Vec<_>>()),
        "v" => reals(&filtered, "v"),
    )
    .unwrap();
    let expected = fit_and_sample(&rebuilt);
    assert_eq!(nulls(&expected, "t"), 0);
    assert!(fit_and_sample(&filtered).equals_missing(&expected));

    let middle = filtered.slice(5, 60);
    let mut chunked = filtered.slice(5, 7);
    for start in (12..65).step_by(10) {
        chunked
            .vstack_mut(&filtered.slice(start, 10.min(65 - start as usize)))
            .unwrap();
    }
    assert!(chunked.column("v").unwrap().n_chunks() > 1);
    let expected = fit_and_sample(&rebuilt.slice(5, 60));
    assert!(fit_and_sample(&middle).equals_missing(&expected));
    assert!(fit_and_sample(&chunked).equals_missing(&expected));
}

#[test]
fn nanosecond_digits_survive() {
    const FIRST: i64 = 1_600_000_000_123_456_789;
    let steps = [1_000_000_007, 2_000_000_011, 1_000_000_007, 3_000_000_023];
    let mut time = vec![FIRST];
    for step in steps.iter().cycle().take(39) {
        time.push(time.last().unwrap() + step);
    }
    let last = *time.last().unwrap();
    let stamps = moments(&time, TimeUnit::Nanoseconds, None);
    let data = df!("t" => stamps, "v" => noise(40)).unwrap();
    let columns = [("t", datetime()), ("v", Numerical)];
    let synthesizer = untrained(&columns).fit(&data).unwrap();
    let sampled = sample(&synthesizer, SampleOptions::sequences(1).length(200));
    assert_eq!(sampled.schema(), data.schema());
    let stamps = wholes(&sampled, "t");
    assert_eq!(stamps[0], FIRST);
    for pair in stamps.windows(2) {
        assert!(steps.contains(&(pair[1] - pair[0])), "{pair:?}");
    }
    // Left out of the range rule, on which values do keep.
    assert!(*stamps.last().unwrap() > last);
    let values = reals(&data, "v");
    let bounds = |of: fn(f64, f64) -> f64| values.iter().flatten().copied().reduce(of).unwrap();
    let range = bounds(f64::min)..=bounds(f64::max);
    assert!(
        reals(&sampled, "v")
            .iter()
            .all(|v| range.contains(&v.unwrap()))
    );
}

#[test]
fn rows_are_sorted_by_time_before_gaps_are_taken() {
    // Sorted by gap the values are 2, 4, 5, 3, 0, 1; in time order they go up by one.
    let days: Vec<i32> = (0..6)
        .flat_map(|key| [0, 5, 6, 10, 12, 15].map(|day| 100 * key + day))
        .collect();
    let values: Vec<i64> = [0, 1, 2, 3, 4, 5].repeat(6);
    let sorted = df!("k" => keys(&[6; 6]), "t" => dates(&days), "v" => values).unwrap();
    let columns = [("k", id()), ("t", datetime()), ("v", Numerical)];
    let synthesizer = untrained(&columns).fit(&sorted).unwrap();
    let sampled = sample(&synthesizer, SampleOptions::sequences(20));
    assert_eq!(gaps(&sampled, "v"), [1; 20 * 5]);

    let order: Vec<IdxSize> = (0..36).map(|row| row * 23 % 36).collect();
    let shuffled = sorted.take(&IdxCa::new("".into(), &order)).unwrap();
    let synthesizer = untrained(&columns).fit(&shuffled).unwrap();
    assert!(sample(&synthesizer, SampleOptions::sequences(20)).equals_missing(&sampled));
}

#[test]
fn datetimes_of_every_unit_and_zone_are_an_index() {
    let columns = [("k", id()), ("t", datetime())];
    let hours: Vec<i64> = (0..4)
        .flat_map(|key| (0..48).map(move |hour| 444_000 + key * 500 + hour))
        .collect();
    for (unit, per_hour) in [
        (TimeUnit::Milliseconds, HOUR_MILLISECONDS),
        (TimeUnit::Microseconds, HOUR_MILLISECONDS * 1_000),
        (TimeUnit::Nanoseconds, HOUR_MILLISECONDS * 1_000_000),
    ] {
        for zone in [
            None,
            Some("UTC"),
            Some("Europe/Berlin"),
            Some("Asia/Kolkata"),
        ] {
            let raw: Vec<i64> = hours.iter().map(|hour| hour * per_hour).collect();
            let data = df!("k" => keys(&[48; 4]), "t" => moments(&raw, unit, zone)).unwrap();
            let synthesizer = untrained(&columns).fit(&data).unwrap();
            let sampled = sample(&synthesizer, SampleOptions::sequences(2));
            assert_eq!(sampled.schema(), data.schema());
            assert_eq!(gaps(&sampled, "t"), vec![per_hour; 94], "{unit:?} {zone:?}");
        }
    }
}

/// Four keys with 30 days each, a day apart, as text of a format.
fn daily_texts(format: &str) -> Vec<String> {
    (0..4)
        .flat_map(|key| (0..30).map(move |row| 18_700 + key * 50 + row))
        .map(|day| written(day, format))
        .collect()
}

fn written(day: i32, format: &str) -> String {
    NaiveDate::from_epoch_days(day)
        .unwrap()
        .format(format)
        .to_string()
}

/// Days since 1970 of text of a format; panics on text of another.
fn read_day(text: &str, format: &str) -> i32 {
    let date = NaiveDate::parse_from_str(text, format).unwrap();
    assert_eq!(date.format(format).to_string(), text);
    date.to_epoch_days()
}

#[test]
fn text_dates_keep_their_format_as_an_index() {
    for format in ["%Y-%m-%d", "%b %d, %Y", "%d/%m/%Y", "%Y%m%d"] {
        let data = df!("k" => keys(&[30; 4]), "t" => daily_texts(format)).unwrap();
        let columns = [("k", id()), ("t", datetime_as(format))];
        let synthesizer = untrained(&columns).fit(&data).unwrap();
        let sampled = sample(&synthesizer, SampleOptions::sequences(2).length(400));
        assert_eq!(sampled.schema(), data.schema());
        let days: Vec<i32> = texts(&sampled, "t")
            .iter()
            .map(|text| read_day(text.as_deref().unwrap(), format))
            .collect();
        for days in days.chunks(400) {
            assert!((18_700..18_900).contains(&days[0]));
            assert!(
                days.windows(2).all(|pair| pair[1] - pair[0] == 1),
                "{format}"
            );
        }
    }
}

#[test]
fn whole_number_dates_are_an_index_and_not_seconds_since_1970() {
    const FORMAT: &str = "%Y%m%d";
    let numbers: Vec<i64> = daily_texts(FORMAT)
        .iter()
        .map(|text| text.parse().unwrap())
        .collect();
    let data = df!("k" => keys(&[30; 4]), "t" => numbers).unwrap();
    let columns = [("k", id()), ("t", datetime_as(FORMAT))];
    let synthesizer = untrained(&columns).fit(&data).unwrap();
    let sampled = sample(&synthesizer, SampleOptions::sequences(2).length(400));
    assert_eq!(sampled.schema(), data.schema());
    let days: Vec<i32> = wholes(&sampled, "t")
        .iter()
        .map(|number| read_day(&number.to_string(), FORMAT))
        .collect();
    for days in days.chunks(400) {
        assert!((18_700..18_900).contains(&days[0]));
        assert!(days.windows(2).all(|pair| pair[1] - pair[0] == 1));
    }
}

#[test]
fn ten_years_of_days_in_nanoseconds_stay_on_whole_days() {
    const DAY: i64 = DAY_MILLISECONDS * 1_000_000;
    let noise = noise(3 * 1_200);
    let days: Vec<i64> = noise
        .chunks(1_200)
        .flat_map(|chunk| {
            chunk.iter().scan(16_000, |day, share| {
                *day += 1 + (share * 5.0) as i64;
                Some(*day * DAY)
            })
        })
        .collect();
    let time = moments(&days, TimeUnit::Nanoseconds, None);
    let data = df!("k" => keys(&[1_200; 3]), "t" => time).unwrap();
    let columns = [("k", id()), ("t", datetime())];
    let synthesizer = untrained(&columns).fit(&data).unwrap();
    let sampled = sample(&synthesizer, SampleOptions::sequences(2).length(2_000));
    let stamps = wholes(&sampled, "t");
    assert!(stamps.iter().all(|stamp| stamp % DAY == 0));
    let gaps = gaps(&sampled, "t");
    assert!(gaps.iter().all(|gap| (DAY..=5 * DAY).contains(gap)));
}

#[test]
fn months_stay_months_past_the_last_one() {
    for last_of_month in [false, true] {
        let day = |month: u32| {
            let date = NaiveDate::from_ymd_opt(2020, month, 1).unwrap();
            let date = if last_of_month {
                date.pred_opt().unwrap()
            } else {
                date
            };
            date.to_epoch_days()
        };
        let days: Vec<i32> = (1..5)
            .flat_map(|first| (first..first + 6).map(day))
            .collect();
        let data = df!("k" => keys(&[6; 4]), "t" => dates(&days)).unwrap();
        let columns = [("k", id()), ("t", datetime())];
        let synthesizer = untrained(&columns).fit(&data).unwrap();
        let sampled = sample(&synthesizer, SampleOptions::sequences(3).length(30));
        let days = wholes(&sampled, "t");
        for rows in sequences(&sampled) {
            let months: Vec<i32> = days[rows]
                .iter()
                .map(|&day| {
                    // The day after the last of a month is the first of the next.
                    let day = i32::try_from(day).unwrap() + i32::from(last_of_month);
                    let date = NaiveDate::from_epoch_days(day).unwrap();
                    assert_eq!(date.day(), 1);
                    date.year() * 12 + date.month().cast_signed()
                })
                .collect();
            assert!(months.windows(2).all(|pair| pair[1] == pair[0] + 1));
        }
    }
}

#[test]
fn dates_in_text_or_digits_go_on_from_single_rows_by_what_the_format_writes() {
    let texts = |format: &str, texts: &[&str]| {
        let table = df!("k" => ["A", "B", "C"], "t" => texts, "x" => [1.0, 2.0, 3.0]).unwrap();
        (table, datetime_as(format))
    };
    let digits = [20_240_131_i64, 20_240_205, 20_240_302];
    let digits = df!("k" => ["A", "B", "C"], "t" => digits, "x" => [1.0, 2.0, 3.0]);
    let tables = [
        texts("%d.%m.%Y", &["31.01.2024", "05.02.2024", "02.03.2024"]),
        texts(
            "%H:%M %d.%m.%Y",
            &["09:30 31.01.2024", "10:15 05.02.2024", "00:00 02.03.2024"],
        ),
        texts("%Y-%m", &["2024-01", "2024-01", "2024-02"]),
        (digits.unwrap(), datetime_as("%Y%m%d")),
    ];
    for (table, date) in tables {
        let columns = [("k", id()), ("t", date.clone()), ("x", Numerical)];
        let fit = untrained(&columns).constraints([Constraint::unique_index("t")]);
        let synthesizer = fit.fit(&table).unwrap();
        let sampled = sample(&synthesizer, SampleOptions::sequences(5).length(9));
        let continued = synthesizer.continue_sequences(&table, 8).unwrap();
        for (frame, sequences) in [(sampled, 5), (continued, 3)] {
            assert_eq!(frame.height(), 9 * sequences);
            let pairs = frame.select(["k", "t"]).unwrap();
            let unique = pairs.unique_stable(None, UniqueKeepStrategy::Any, None);
            assert_eq!(
                unique.unwrap().height(),
                frame.height(),
                "{date:?}: {frame}"
            );
        }
    }
}
