#![allow(clippy::unwrap_used, reason = "a test's panic is its report")]

use super::numbers::{mod_97, vin_check, with_luhn};
use super::*;
use std::collections::HashSet;

fn texts(values: &[&str]) -> Vec<Label> {
    values
        .iter()
        .map(|text| Label::Text((*text).to_owned()))
        .collect()
}

fn fitted(kind: PersonalKind, labels: &[Label], storage: &Storage) -> PersonalCodec {
    PersonalCodec::fit(kind, labels, storage, false, &[Locale::EnUs], 5)
}

fn drawn(codec: &PersonalCodec, count: u64, storage: &Storage) -> Vec<Label> {
    let numbers: Vec<u64> = (0..count).collect();
    codec
        .values(&numbers, 3, 11, storage, &[], &mut HashSet::new())
        .unwrap()
}

fn drawn_texts(kind: PersonalKind, locale: Locale, count: u64) -> Vec<String> {
    let mut codec = fitted(kind, &texts(&["seen"]), &Storage::Text);
    codec.locales = vec![locale];
    drawn(&codec, count, &Storage::Text)
        .iter()
        .map(Label::to_string)
        .collect()
}

#[test]
fn every_kind_has_values_in_every_locale() {
    for kind in PersonalKind::ALL {
        for locale in Locale::ALL {
            let values = drawn_texts(kind, locale, 60);
            assert_eq!(values.len(), 60);
            assert!(
                values.iter().all(|value| !value.trim().is_empty()
                    && !value.contains('{')
                    && value.trim().chars().all(|c| !c.is_control())),
                "{kind:?} {locale:?}: {values:?}"
            );
            let distinct: HashSet<&String> = values.iter().collect();
            assert!(distinct.len() > 1, "{kind:?} {locale:?}: {values:?}");
        }
    }
}

#[test]
fn a_locale_name_reads_back() {
    for locale in Locale::ALL {
        assert_eq!(Locale::from_name(locale.name()), Some(locale));
    }
    assert_eq!(Locale::from_name("en_GB"), None);
}

#[test]
fn check_digits_are_right_and_a_wrong_one_is_told() {
    // The examples of ISO 13616's registry, of ISO 7812 and of 49 CFR 565.
    let iban = |text: &str| mod_97(&format!("{}{}", &text[4..], &text[..4])) == 1;
    assert!(iban("GB29NWBK60161331926819") && !iban("GB28NWBK60161331926819"));
    assert_eq!(with_luhn("7992739871"), "79927398713");
    assert_eq!(with_luhn("453201511283036"), "4532015112830366");
    let vin: Vec<char> = "1M8GDM9AXKP042788".chars().collect();
    assert_eq!(vin_check(&vin), 'X');
    for locale in Locale::ALL {
        for value in drawn_texts(PersonalKind::Iban, locale, 50) {
            assert!(iban(&value), "{value}");
        }
    }
    for value in drawn_texts(PersonalKind::CreditCardNumber, Locale::EnUs, 200) {
        assert_eq!(with_luhn(&value[..value.len() - 1]), value);
        let starts = ["4", "51", "52", "53", "54", "55", "37"];
        assert!(
            starts.iter().any(|start| value.starts_with(start)),
            "{value}"
        );
        assert_eq!(value.len(), if value.starts_with('3') { 15 } else { 16 });
    }
    for value in drawn_texts(PersonalKind::Vin, Locale::EnUs, 200) {
        let characters: Vec<char> = value.chars().collect();
        assert_eq!(characters.len(), 17);
        assert_eq!(characters[8], vin_check(&characters), "{value}");
        assert!(!value.contains(['I', 'O', 'Q']), "{value}");
    }
}

#[test]
fn numbers_and_addresses_are_of_ranges_that_are_never_given_out() {
    for value in drawn_texts(PersonalKind::Ssn, Locale::EnUs, 500) {
        let parts: Vec<u32> = value.split('-').map(|part| part.parse().unwrap()).collect();
        assert!(
            parts[0] == 666 || (parts[0] >= 900 && parts[1] <= 49),
            "{value}"
        );
        assert!(parts[1] > 0 && parts[2] > 0 && value.len() == 11, "{value}");
    }
    let mut ranges = HashSet::new();
    for value in drawn_texts(PersonalKind::Ipv4Address, Locale::EnUs, 5000) {
        let parts: Vec<u8> = value.split('.').map(|part| part.parse().unwrap()).collect();
        let documented =
            [[192, 0, 2], [198, 51, 100], [203, 0, 113]].contains(&[parts[0], parts[1], parts[2]]);
        assert!(
            documented || (parts[0] == 198 && parts[1] / 2 == 9),
            "{value}"
        );
        ranges.insert(documented);
    }
    assert_eq!(ranges.len(), 2);
    for value in drawn_texts(PersonalKind::Ipv6Address, Locale::EnUs, 100) {
        assert!(value.starts_with("2001:db8:"), "{value}");
        assert!(value.parse::<std::net::Ipv6Addr>().is_ok());
    }
    for value in drawn_texts(PersonalKind::MacAddress, Locale::EnUs, 100) {
        let first = u8::from_str_radix(&value[..2], 16).unwrap();
        assert_eq!(first & 3, 2, "{value}");
        assert_eq!(value.len(), 17);
    }
    for locale in Locale::ALL {
        for value in drawn_texts(PersonalKind::Email, locale, 50) {
            let (user, domain) = value.split_once('@').unwrap();
            assert!(
                ["example.com", "example.net", "example.org"].contains(&domain),
                "{value}"
            );
            assert!(user.is_ascii() && !user.starts_with('.'), "{value}");
        }
    }
    for value in drawn_texts(PersonalKind::Swift11, Locale::DeDe, 50) {
        assert_eq!((value.len(), &value[4..6], &value[7..8]), (11, "DE", "0"));
    }
    for value in drawn_texts(PersonalKind::PhoneNumber, Locale::EnUs, 50) {
        assert!(
            value.contains("555-01") || value.contains("555.01"),
            "{value}"
        );
    }
}

#[test]
fn a_uuid_says_that_it_is_random() {
    for value in drawn_texts(PersonalKind::Uuid, Locale::EnUs, 50) {
        assert_eq!(value.len(), 36);
        assert_eq!(&value[14..15], "4", "{value}");
        assert!("89ab".contains(&value[19..20]), "{value}");
    }
}

#[test]
fn no_training_value_comes_out_in_whatever_capitals() {
    // Half of all American state codes.
    let seen = [
        "al", "AK", "AZ", "AR", "CA", "CO", "CT", "DE", "FL", "GA", "HI", "ID", "IL",
    ];
    let codec = fitted(PersonalKind::StateAbbr, &texts(&seen), &Storage::Text);
    assert!(!codec.is_exhausted);
    let made = drawn(&codec, 2000, &Storage::Text);
    for label in &made {
        let text = label.to_string();
        assert!(
            !seen.iter().any(|seen| seen.eq_ignore_ascii_case(&text)),
            "{text}"
        );
    }
}

#[test]
fn where_training_has_every_value_they_come_out() {
    let all: HashSet<String> = drawn_texts(PersonalKind::StateAbbr, Locale::EnUs, 5000)
        .into_iter()
        .collect();
    let labels: Vec<Label> = all.iter().map(|text| Label::Text(text.clone())).collect();
    let codec = fitted(PersonalKind::StateAbbr, &labels, &Storage::Text);
    assert!(codec.is_exhausted);
    assert_eq!(drawn(&codec, 100, &Storage::Text).len(), 100);
}

#[test]
fn a_value_depends_on_its_number_and_column_alone() {
    let codec = fitted(PersonalKind::Name, &texts(&["A B"]), &Storage::Text);
    let values = |numbers: &[u64], column| {
        codec
            .values(numbers, column, 9, &Storage::Text, &[], &mut HashSet::new())
            .unwrap()
    };
    let all: Vec<u64> = (0..50).collect();
    let first = values(&all, 1);
    assert_eq!(values(&all[20..30], 1), first[20..30]);
    assert_ne!(values(&all, 2), first);
}

#[test]
fn unique_values_never_repeat_and_run_out_with_an_error() {
    let mut codec = fitted(PersonalKind::StateAbbr, &texts(&["AL"]), &Storage::Text);
    codec.is_unique = true;
    let values = |count, besides: &[Label]| {
        let numbers: Vec<u64> = (0..count).collect();
        codec.values(&numbers, 1, 9, &Storage::Text, besides, &mut HashSet::new())
    };
    let mut labels = values(40, &[]).unwrap();
    let distinct: HashSet<String> = labels.iter().map(Label::to_string).collect();
    assert_eq!(distinct.len(), 40);
    let error = values(200, &[]).unwrap_err();
    assert!(
        matches!(error, IdentifierError::Capacity { wanted: 200, available, .. } if available >= 40),
        "{error}"
    );
    labels.sort();
    assert!(values(40, &labels).is_err()); // half a hundred in all, without Alabama and forty others
}

#[test]
fn whole_numbers_keep_their_digits_and_fit_their_dtype() {
    use crate::table::IntegerType;
    let seen: Vec<Label> = [2_125_550_123, 2_147_483_647].map(Label::Integer).to_vec();
    for (kind, integer) in [
        (PersonalKind::PhoneNumber, IntegerType::I32),
        (PersonalKind::CreditCardNumber, IntegerType::I32),
        (PersonalKind::Unknown, IntegerType::U64),
        (PersonalKind::Ssn, IntegerType::I64),
    ] {
        let storage = Storage::Integer(integer);
        let codec = fitted(kind, &seen, &storage);
        for label in drawn(&codec, 300, &storage) {
            let Label::Integer(value) = label else {
                panic!("{label}")
            };
            assert!(value <= integer.range().1, "{kind:?} {value}");
            let digits = value.to_string().len();
            let wanted = if kind == PersonalKind::Ssn { 9 } else { 10 };
            assert!(digits == wanted, "{kind:?} {value}");
        }
    }
    let storage = Storage::Integer(IntegerType::I8);
    let codec = fitted(
        PersonalKind::CreditCardNumber,
        &[Label::Integer(7)],
        &storage,
    );
    assert_eq!(drawn(&codec, 9, &storage).len(), 9);
}

#[test]
fn degrees_lie_on_the_globe_with_the_decimals_seen() {
    for (kind, most) in [
        (PersonalKind::Latitude, 90.0),
        (PersonalKind::Longitude, 180.0),
    ] {
        let codec = fitted(kind, &[Label::Float(1.25)], &Storage::Float64);
        let mut extreme: f64 = 0.0;
        for label in drawn(&codec, 500, &Storage::Float64) {
            let Label::Float(value) = label else {
                panic!("{label}")
            };
            assert!(
                value.abs() <= most && (value * 100.0).round() / 100.0 == value,
                "{value}"
            );
            extreme = extreme.max(value.abs());
        }
        assert!(extreme > 0.9 * most);
    }
}
