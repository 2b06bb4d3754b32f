//! Numbers and codes that have rules of their own: check digits, lengths, ranges that are never given out.

use super::locale::Locale;
use crate::rng::below;
use rand::Rng as _;
use rand::rngs::ChaCha12Rng;
use std::net::{Ipv4Addr, Ipv6Addr};

const DIGITS: &[u8] = b"0123456789";
const CAPITALS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const SMALL: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
const CODE: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
/// Without I, O and Q, which look like digits (ISO 3779).
const VIN: &[u8] = b"ABCDEFGHJKLMNPRSTUVWXYZ0123456789";

fn one_of(characters: &[u8], generator: &mut ChaCha12Rng) -> char {
    char::from(characters[below(generator, characters.len())])
}

/// Fills in a pattern: `#` a digit, `^` a digit but 0, `%` a digit from 2 on, `?` a capital, `*` a capital or digit,
/// `~` a small letter or digit.
pub(super) fn filled(pattern: &str, generator: &mut ChaCha12Rng) -> String {
    pattern
        .chars()
        .map(|character| match character {
            '#' => one_of(DIGITS, generator),
            '^' => one_of(&DIGITS[1..], generator),
            '%' => one_of(&DIGITS[2..], generator),
            '?' => one_of(CAPITALS, generator),
            '*' => one_of(CODE, generator),
            '~' => one_of(SMALL, generator),
            other => other,
        })
        .collect()
}

/// An American social security number of an area that is never given out: 666, or 900 to 999 with a group that the tax
/// numbers of that area do not use (01 to 49).
pub(super) fn ssn(generator: &mut ChaCha12Rng) -> String {
    let serial = 1 + below(generator, 9_999);
    let area = below(generator, 101);
    let (area, groups) = if area == 100 {
        (666, 99)
    } else {
        (900 + area, 49)
    };
    let group = 1 + below(generator, groups);
    format!("{area}-{group:02}-{serial:04}")
}

/// The country and the pattern of a bank account; countries without an IBAN borrow the British one.
fn account(locale: Locale) -> (&'static str, &'static str) {
    match locale {
        Locale::ArSa => ("SA", "##******************"),
        Locale::DeDe => ("DE", "##################"),
        Locale::FaIr => ("IR", "######################"),
        Locale::FrFr => ("FR", "##########***********##"),
        Locale::ItIt => ("IT", "?##########************"),
        Locale::NlNl => ("NL", "????##########"),
        Locale::PtBr => ("BR", "#######################?*"),
        Locale::PtPt => ("PT", "#####################"),
        Locale::TrTr => ("TR", "######****************"),
        Locale::CyGb | Locale::EnUs | Locale::JaJp | Locale::ZhCn | Locale::ZhTw => {
            ("GB", "????##############")
        }
    }
}

/// A basic bank account number in the national pattern; national check digits are left to chance.
pub(super) fn bban(locale: Locale, generator: &mut ChaCha12Rng) -> String {
    filled(account(locale).1, generator)
}

/// An IBAN whose check digits are right (ISO 7064, mod 97-10).
pub(super) fn iban(locale: Locale, generator: &mut ChaCha12Rng) -> String {
    let (country, pattern) = account(locale);
    let account = filled(pattern, generator);
    let check = 98 - mod_97(&format!("{account}{country}00"));
    format!("{country}{check:02}{account}")
}

/// The remainder by 97 of a text in which A stands for 10, B for 11 and so on.
pub(super) fn mod_97(text: &str) -> u32 {
    text.chars()
        .filter_map(|character| character.to_digit(36))
        .fold(0, |rest, value| {
            let shift = if value < 10 { 10 } else { 100 };
            (rest * shift + value) % 97
        })
}

/// A bank's code; one whose place ends in 0 is a test code and never a bank's (ISO 9362).
pub(super) fn swift(locale: Locale, branch: &str, generator: &mut ChaCha12Rng) -> String {
    let country = locale.country();
    format!(
        "{}{country}{}{}",
        filled("????", generator),
        filled("?0", generator),
        filled(branch, generator)
    )
}

/// A card's number with a right check digit (Luhn, ISO 7812): Visa and Mastercard of 16 digits, American Express of 15.
pub(super) fn card(generator: &mut ChaCha12Rng) -> String {
    let start = match below(generator, 3) {
        0 => "4##############",
        1 => "5%#############",
        _ => "37############",
    };
    let mut digits = filled(start, generator);
    if let Some(rest) = digits.strip_prefix('5') {
        // Mastercard has 51 to 55.
        let second = 1 + below(generator, 5);
        digits = format!("5{second}{}", &rest[1..]);
    }
    with_luhn(&digits)
}

/// The digits and the one that makes them right.
pub(super) fn with_luhn(digits: &str) -> String {
    let sum: u32 = digits
        .chars()
        .rev()
        .filter_map(|digit| digit.to_digit(10))
        .enumerate()
        .map(|(place, digit)| match place % 2 {
            0 if digit > 4 => digit * 2 - 9,
            0 => digit * 2,
            _ => digit,
        })
        .sum();
    format!("{digits}{}", (10 - sum % 10) % 10)
}

/// A vehicle identification number with a right check digit (49 CFR 565.15).
pub(super) fn vin(generator: &mut ChaCha12Rng) -> String {
    let mut vin: Vec<char> = (0..17).map(|_| one_of(VIN, generator)).collect();
    vin[8] = vin_check(&vin);
    vin.into_iter().collect()
}

const VIN_WEIGHTS: [u32; 17] = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];

/// The ninth character that the others want.
pub(super) fn vin_check(vin: &[char]) -> char {
    let value = |character: &char| match character {
        '0'..='9' => character.to_digit(10).unwrap_or(0),
        'A'..='H' => u32::from(*character) - u32::from('A') + 1,
        'J'..='R' => u32::from(*character) - u32::from('J') + 1,
        'S'..='Z' => u32::from(*character) - u32::from('S') + 2,
        _ => 0,
    };
    let sum: u32 = vin
        .iter()
        .zip(VIN_WEIGHTS)
        .map(|(character, weight)| value(character) * weight)
        .sum();
    char::from_digit(sum % 11, 10).unwrap_or('X')
}

/// An address of the ranges that are kept for documentation (RFC 5737) and measurements (RFC 2544), off the internet.
pub(super) fn ipv4(generator: &mut ChaCha12Rng) -> String {
    const MEASURED: usize = 1 << 17;
    const DOCUMENTED: [[u8; 3]; 3] = [[192, 0, 2], [198, 51, 100], [203, 0, 113]];
    let place = below(generator, MEASURED + DOCUMENTED.len() * 256);
    let address = match place.checked_sub(MEASURED) {
        None => Ipv4Addr::from(0xc612_0000 | u32::try_from(place).unwrap_or(0)),
        Some(rest) => {
            let [a, b, c] = DOCUMENTED[rest / 256];
            Ipv4Addr::new(a, b, c, u8::try_from(rest % 256).unwrap_or(0))
        }
    };
    address.to_string()
}

/// An address of the range that is kept for documentation (RFC 3849).
pub(super) fn ipv6(generator: &mut ChaCha12Rng) -> String {
    let (high, low) = (generator.next_u64(), generator.next_u64());
    let bits = (u128::from(high & 0xffff_ffff) << 64) | u128::from(low);
    Ipv6Addr::from((0x2001_0db8_u128 << 96) | bits).to_string()
}

/// A locally administered address of one card, which no maker of cards is given (IEEE 802).
pub(super) fn mac(generator: &mut ChaCha12Rng) -> String {
    let mut bytes = generator.next_u64().to_be_bytes();
    bytes[0] = (bytes[0] & 0xfc) | 0x02;
    bytes[..6]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect::<Vec<_>>()
        .join(":")
}

/// A random UUID (RFC 9562, version 4).
pub(super) fn uuid(generator: &mut ChaCha12Rng) -> String {
    let bits = (u128::from(generator.next_u64()) << 64) | u128::from(generator.next_u64());
    let bits = (bits & !(0xf << 76) & !(0x3 << 62)) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{bits:032x}");
    [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ]
    .join("-")
}

/// A number of so many digits, from `low` of them to `high`, and at most `most`.
pub(super) fn digits(low: u32, high: u32, most: u64, generator: &mut ChaCha12Rng) -> u64 {
    let span = usize::try_from(high.saturating_sub(low)).unwrap_or(0) + 1;
    let count = low + u32::try_from(below(generator, span)).unwrap_or(0);
    let power = |count: u32| 10_u64.checked_pow(count).unwrap_or(u64::MAX);
    let first = if count <= 1 { 0 } else { power(count - 1) }.min(most);
    let last = (power(count) - 1).clamp(first, most);
    let wide = u128::from(generator.next_u64());
    let drawn = (wide * (u128::from(last - first) + 1)) >> 64;
    first + u64::try_from(drawn).unwrap_or(0)
}
