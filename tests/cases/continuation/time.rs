//! The index of continued sequences, in every kind there is.

use super::*;

/// Two sequences of six rows each in one index, from its values.
fn timed(index: Series) -> DataFrame {
    df!("k" => keys(&[6, 6]), "t" => index, "v" => noise(12)).unwrap()
}

/// Dates of two sequences that start in January and March.
fn days(step: impl Fn(i64) -> i64) -> Vec<i64> {
    (0..2)
        .flat_map(|s| (0..6).map(move |row| (s, row)))
        .map(|(s, row)| 18_993 + 59 * s + step(row))
        .collect()
}

#[test]
fn time_goes_on_strictly_after_the_last_given_row_in_every_kind_of_index() {
    let date = |days: &[i64]| {
        let days: Vec<i32> = days.iter().map(|&day| day as i32).collect();
        Series::new("".into(), days).cast(&DataType::Date).unwrap()
    };
    let text = |days: &[i64], format: &str| {
        let text = |&day: &i64| {
            chrono::NaiveDate::from_epoch_days(day as i32)
                .unwrap()
                .format(format)
                .to_string()
        };
        days.iter().map(text).collect::<Vec<String>>()
    };
    let daily = days(|row| row);
    let uneven = days(|row| row * row);
    let monthly: Vec<i64> = [
        "2022-01-31",
        "2022-02-28",
        "2022-03-31",
        "2022-04-30",
        "2022-05-31",
        "2022-06-30",
    ]
    .repeat(2)
    .iter()
    .map(|text| i64::from(text.parse::<chrono::NaiveDate>().unwrap().to_epoch_days()))
    .collect();
    let scaled = |unit: i64| uneven.iter().map(|day| day * unit).collect::<Vec<_>>();
    let hourly = |unit: i64| {
        (0..12)
            .map(|row| 1_640_995_200 * unit + (row % 6 + 5 * (row / 6)) * 3_600 * unit)
            .collect::<Vec<_>>()
    };
    let cases: Vec<(&str, Series, SdType)> = vec![
        ("months", date(&monthly), datetime(None)),
        ("days", date(&daily), datetime(None)),
        ("uneven days", date(&uneven), datetime(None)),
        (
            "text",
            Series::new("".into(), text(&uneven, "%b %d, %Y")),
            datetime(Some("%b %d, %Y")),
        ),
        (
            "monthly text",
            Series::new("".into(), text(&monthly, "%Y-%m-%d")),
            datetime(Some("%Y-%m-%d")),
        ),
        (
            "whole numbers",
            Series::new(
                "".into(),
                text(&daily, "%Y%m%d")
                    .iter()
                    .map(|t| t.parse::<i64>().unwrap())
                    .collect::<Vec<_>>(),
            ),
            datetime(Some("%Y%m%d")),
        ),
        (
            "milliseconds",
            moments(hourly(1_000), TimeUnit::Milliseconds, None),
            datetime(None),
        ),
        (
            "microseconds",
            moments(hourly(1_000_000), TimeUnit::Microseconds, Some("UTC")),
            datetime(None),
        ),
        (
            "nanoseconds",
            moments(scaled(86_400_000_000_000), TimeUnit::Nanoseconds, None),
            datetime(None),
        ),
        (
            "steps",
            Series::new("".into(), [0_i16, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5]),
            Numerical,
        ),
        (
            "tenths",
            Series::new(
                "".into(),
                (0..12)
                    .map(|row| f64::from(row % 6) / 10.0)
                    .collect::<Vec<_>>(),
            ),
            Numerical,
        ),
        (
            "ties",
            Series::new("".into(), [0, 0, 1, 1, 2, 2, 0, 0, 0, 0, 1, 1]),
            Numerical,
        ),
        (
            "ties alone",
            Series::new("".into(), [3, 3, 3, 3, 3, 3, 5, 5, 5, 5, 5, 5]),
            Numerical,
        ),
    ];
    for (case, index, sdtype) in cases {
        let data = timed(index);
        let synthesizer = untrained(&[("k", id()), ("t", sdtype), ("v", Numerical)])
            .fit(&data)
            .unwrap();
        for given in [1, 4, 6] {
            let history = rows(&data, (0..given).chain(6..6 + given));
            let frame = continued(&synthesizer, &history, 9);
            assert_eq!(frame.height(), 2 * (given + 9), "{case}");
            let times: Vec<f64> = match case {
                "text" => text_days(&frame, "%b %d, %Y"),
                "monthly text" => text_days(&frame, "%Y-%m-%d"),
                _ => reals(&frame, "t"),
            };
            for times in times.chunks(given + 9) {
                let (before, after) = times.split_at(given);
                assert!(
                    after.iter().all(|time| *time > before[given - 1]),
                    "{case}: {times:?}"
                );
                assert!(after.is_sorted(), "{case}: {times:?}");
                let steps = times.windows(2).map(|pair| pair[1] - pair[0]);
                match case {
                    "days" => assert!(steps.into_iter().all(|step| step == 1.0), "{times:?}"),
                    "months" | "monthly text" => assert!(
                        steps.into_iter().all(|step| (28.0..=31.0).contains(&step)),
                        "{times:?}"
                    ),
                    "milliseconds" => assert!(
                        steps.into_iter().all(|step| step == 3_600_000.0),
                        "{times:?}"
                    ),
                    "tenths" => assert!(
                        after
                            .iter()
                            .all(|time| (time * 10.0).round() / 10.0 == *time),
                        "{times:?}"
                    ),
                    _ => {}
                }
            }
        }
    }
}

fn text_days(frame: &DataFrame, format: &str) -> Vec<f64> {
    let day = |text: &Option<String>| {
        let day = chrono::NaiveDate::parse_from_str(text.as_deref().unwrap(), format).unwrap();
        f64::from(day.to_epoch_days())
    };
    texts(frame, "t").iter().map(day).collect()
}

#[test]
fn a_history_between_the_grid_points_of_training_keeps_its_phase() {
    let hours = |minutes: i64, count: i64| {
        moments(
            (0..count).map(|h| (h * 60 + minutes) * 60_000).collect(),
            TimeUnit::Milliseconds,
            None,
        )
    };
    let data = df!("k" => keys(&[10, 10]), "t" => {
        let mut all = hours(0, 10);
        all.append(&hours(0, 10)).unwrap();
        all
    })
    .unwrap();
    let synthesizer = untrained(&[("k", id()), ("t", datetime(None))])
        .fit(&data)
        .unwrap();
    let history = df!("k" => keys(&[3]), "t" => hours(30, 3)).unwrap();
    let frame = continued(&synthesizer, &history, 4);
    let expected = df!("k" => keys(&[7]), "t" => hours(30, 7)).unwrap();
    assert_same_cells(&frame, &expected);
    let data = df!("k" => keys(&[4; 3]), "t" => [0.0, 1.0, 2.0, 3.0].repeat(3)).unwrap();
    let columns = [("k", id()), ("t", Numerical)];
    let synthesizer = untrained(&columns).fit(&data).unwrap();
    let history = df!("k" => keys(&[2]), "t" => [7.25, 8.25]).unwrap();
    let frame = continued(&synthesizer, &history, 3);
    assert_eq!(reals(&frame, "t"), [7.25, 8.25, 9.25, 10.25, 11.25]);
}

#[test]
fn an_index_at_the_end_of_its_dtype_is_refused() {
    let columns = [("k", id()), ("t", Numerical)];
    let data = df!("k" => keys(&[6, 6]), "t" => [0_i8, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5]).unwrap();
    let synthesizer = untrained(&columns).fit(&data).unwrap();
    let history = df!("k" => ["x"], "t" => [125_i8]).unwrap();
    assert_eq!(
        wholes(&continued(&synthesizer, &history, 2), "t"),
        [125, 126, 127]
    );
    let error = synthesizer.continue_sequences(&history, 3).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("sequence index column `t` goes on past"),
        "{error}"
    );
    // Among f32, 2^24 + 1 is 2^24.
    let steps: Vec<f32> = (0..12).map(|row| (row % 6) as f32).collect();
    let data = df!("k" => keys(&[6, 6]), "t" => steps).unwrap();
    let synthesizer = untrained(&columns).fit(&data).unwrap();
    let history = df!("k" => ["x"], "t" => [16_777_216_f32]).unwrap();
    let error = synthesizer.continue_sequences(&history, 1).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("sequence index column `t` goes on past"),
        "{error}"
    );
}

#[test]
fn the_end_of_the_tables_time_cuts_no_continuation() {
    // Half of the sequences are still going on when the table's time ends, on day 30.
    let (mut key, mut day) = (Vec::new(), Vec::new());
    for sequence in 0..20_i64 {
        let (start, length) = if sequence % 2 == 0 {
            (31 - sequence, sequence)
        } else {
            (0, 9)
        };
        for row in 0..length {
            key.push(sequence);
            day.push(start + row);
        }
    }
    let data = df!("k" => key, "t" => day, "v" => noise(171 + 9)).unwrap();
    let synthesizer = untrained(&[("k", id()), ("t", Numerical), ("v", Numerical)])
        .epochs(1)
        .fit(&data)
        .unwrap();
    // Sampling does stop there, or this test would tell nothing.
    let sampled = synthesizer
        .sample_with(&SampleOptions::sequences(100).seed(1))
        .unwrap();
    assert!(wholes(&sampled, "t").iter().all(|day| *day <= 30));
    let sequences = data.column("k").unwrap().n_unique().unwrap();
    let frame = continued(&synthesizer, &data, 40);
    assert_eq!(frame.height(), data.height() + 40 * sequences);
    assert!(wholes(&frame, "t").iter().all(|day| *day <= 30 + 40));
    assert!(wholes(&frame, "t").contains(&70));
}
