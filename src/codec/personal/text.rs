//! Values as text, by kind and locale.
//! Names, places, jobs and words come from the crate `fake`; what has rules of its own from `numbers`.

use super::locale::Locale;
use super::numbers::{bban, card, filled, iban, ipv4, ipv6, mac, ssn, swift, uuid, vin};
use crate::metadata::PersonalKind;
use crate::rng::{below, uniform};
use fake::Fake as _;
use fake::faker::address::raw::{
    BuildingNumber, CityName, CountryCode, CountryName, PostCode, SecondaryAddress, StateAbbr,
    StateName, StreetName,
};
use fake::faker::company::raw::CompanyName;
use fake::faker::internet::raw::{Password, UserAgent, Username};
use fake::faker::job::raw::Title;
use fake::faker::lorem::raw::{Sentence, Word};
use fake::faker::name::raw::{FirstName, LastName, Name};
use fake::faker::phone_number::raw::PhoneNumber;
use fake::locales::{
    AR_SA, CY_GB, DE_DE, EN, FA_IR, FR_FR, IT_IT, JA_JP, NL_NL, PT_BR, PT_PT, TR_TR, ZH_CN, ZH_TW,
};
use rand::rngs::ChaCha12Rng;

/// A value of `fake` in a locale, as text.
macro_rules! faked {
    ($locale:expr, $generator:expr, $faker:ident $(, $argument:expr)?) => {
        match $locale {
            Locale::ArSa => $faker(AR_SA $(, $argument)?).fake_with_rng::<String, _>($generator),
            Locale::CyGb => $faker(CY_GB $(, $argument)?).fake_with_rng::<String, _>($generator),
            Locale::DeDe => $faker(DE_DE $(, $argument)?).fake_with_rng::<String, _>($generator),
            Locale::EnUs => $faker(EN $(, $argument)?).fake_with_rng::<String, _>($generator),
            Locale::FaIr => $faker(FA_IR $(, $argument)?).fake_with_rng::<String, _>($generator),
            Locale::FrFr => $faker(FR_FR $(, $argument)?).fake_with_rng::<String, _>($generator),
            Locale::ItIt => $faker(IT_IT $(, $argument)?).fake_with_rng::<String, _>($generator),
            Locale::JaJp => $faker(JA_JP $(, $argument)?).fake_with_rng::<String, _>($generator),
            Locale::NlNl => $faker(NL_NL $(, $argument)?).fake_with_rng::<String, _>($generator),
            Locale::PtBr => $faker(PT_BR $(, $argument)?).fake_with_rng::<String, _>($generator),
            Locale::PtPt => $faker(PT_PT $(, $argument)?).fake_with_rng::<String, _>($generator),
            Locale::TrTr => $faker(TR_TR $(, $argument)?).fake_with_rng::<String, _>($generator),
            Locale::ZhCn => $faker(ZH_CN $(, $argument)?).fake_with_rng::<String, _>($generator),
            Locale::ZhTw => $faker(ZH_TW $(, $argument)?).fake_with_rng::<String, _>($generator),
        }
    };
}

/// A value of a kind, as text.
pub(super) fn text(kind: PersonalKind, locale: Locale, random: &mut ChaCha12Rng) -> String {
    let text = any_text(kind, locale, random);
    // A list of `fake` has a tab behind a name, and a Dutch template a place for a river that nobody fills.
    let words = text.split_whitespace().filter(|word| *word != "{River}");
    words.collect::<Vec<_>>().join(" ")
}

fn any_text(kind: PersonalKind, locale: Locale, random: &mut ChaCha12Rng) -> String {
    match kind {
        PersonalKind::FirstName => faked!(locale, random, FirstName),
        PersonalKind::LastName => faked!(locale, random, LastName),
        PersonalKind::Name => faked!(locale, random, Name),
        PersonalKind::Email => email(locale, random),
        PersonalKind::PhoneNumber => phone(locale, random),
        PersonalKind::Address => format!(
            "{}, {} {}",
            street_address(locale, random),
            faked!(locale, random, PostCode),
            faked!(locale, random, CityName)
        ),
        PersonalKind::StreetAddress => street_address(locale, random),
        PersonalKind::SecondaryAddress => faked!(locale, random, SecondaryAddress),
        PersonalKind::City => faked!(locale, random, CityName),
        PersonalKind::State | PersonalKind::AdministrativeUnit => {
            faked!(locale, random, StateName)
        }
        PersonalKind::StateAbbr => faked!(locale, random, StateAbbr),
        PersonalKind::Postcode => faked!(locale, random, PostCode),
        PersonalKind::Country => faked!(locale, random, CountryName),
        PersonalKind::CountryCode => faked!(locale, random, CountryCode),
        PersonalKind::Ssn => ssn(random),
        PersonalKind::Iban => iban(locale, random),
        PersonalKind::Bban => bban(locale, random),
        PersonalKind::Swift8 => swift(locale, "", random),
        PersonalKind::Swift11 => swift(locale, "***", random),
        PersonalKind::CreditCardNumber => card(random),
        PersonalKind::Ipv4Address => ipv4(random),
        PersonalKind::Ipv6Address => ipv6(random),
        PersonalKind::MacAddress => mac(random),
        PersonalKind::UserAgentString => faked!(locale, random, UserAgent),
        PersonalKind::Vin => vin(random),
        PersonalKind::LicensePlate => filled(plate(locale), random),
        PersonalKind::Latitude | PersonalKind::Longitude => {
            format!("{:.6}", degrees(kind, random))
        }
        PersonalKind::Uuid => uuid(random),
        PersonalKind::Url => format!(
            "https://www.example.{}/{}",
            domain(random),
            filled("~~~~~~~~", random)
        ),
        PersonalKind::Company => faked!(locale, random, CompanyName),
        PersonalKind::Job => faked!(locale, random, Title),
        PersonalKind::UserName => {
            format!(
                "{}{}",
                faked!(locale, random, Username),
                filled("##", random)
            )
        }
        PersonalKind::Password => faked!(locale, random, Password, 10..17),
        PersonalKind::DateOfBirth => super::day_of_birth(random).format("%Y-%m-%d").to_string(),
        PersonalKind::Text => faked!(locale, random, Sentence, 4..11),
        PersonalKind::Unknown => filled("unknown-~~~~~~~~", random),
    }
}

/// A point anywhere, in degrees; 0 for what is no coordinate.
pub(super) fn degrees(kind: PersonalKind, random: &mut ChaCha12Rng) -> f64 {
    let most = match kind {
        PersonalKind::Latitude => 90.0,
        PersonalKind::Longitude => 180.0,
        _ => 0.0,
    };
    most * (2.0 * uniform(random) - 1.0)
}

/// One of the domains that are kept for examples (RFC 2606), so that no mail ever reaches anyone.
fn domain(random: &mut ChaCha12Rng) -> &'static str {
    ["com", "net", "org"][below(random, 3)]
}

fn email(locale: Locale, random: &mut ChaCha12Rng) -> String {
    let plain = |name: String| -> String {
        name.to_lowercase()
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .collect()
    };
    let mut user = plain(faked!(locale, random, FirstName));
    if user.is_empty() {
        // Names in another script than Latin.
        user = plain(faked!(Locale::EnUs, random, FirstName));
    }
    format!(
        "{user}.{}{}@example.{}",
        faked!(Locale::EnUs, random, Word),
        filled("###", random),
        domain(random)
    )
}

/// American and French numbers are of ranges kept for fiction; for the other locales there is none wide enough.
fn phone(locale: Locale, random: &mut ChaCha12Rng) -> String {
    const FRENCH: [&str; 6] = [
        "01 99 00 ## ##",
        "02 61 91 ## ##",
        "03 53 01 ## ##",
        "04 65 71 ## ##",
        "05 36 49 ## ##",
        "06 39 98 ## ##",
    ];
    const AMERICAN: [&str; 4] = [
        "(%##) 555-01##",
        "%##-555-01##",
        "%##.555.01##",
        "%##-555-01## x####",
    ];
    match locale {
        Locale::EnUs => filled(AMERICAN[below(random, AMERICAN.len())], random),
        Locale::FrFr => filled(FRENCH[below(random, FRENCH.len())], random),
        _ => faked!(locale, random, PhoneNumber),
    }
}

fn street_address(locale: Locale, random: &mut ChaCha12Rng) -> String {
    let street = faked!(locale, random, StreetName);
    let number = faked!(locale, random, BuildingNumber);
    match locale {
        Locale::EnUs | Locale::FrFr | Locale::CyGb => format!("{number} {street}"),
        _ => format!("{street} {number}"),
    }
}

fn plate(locale: Locale) -> &'static str {
    match locale {
        Locale::EnUs => "???-####",
        Locale::DeDe => "??-?? ####",
        Locale::FrFr | Locale::ItIt => "??-###-??",
        Locale::NlNl => "??-###-?",
        Locale::PtBr => "???#?##",
        Locale::PtPt => "??-##-??",
        Locale::CyGb => "??## ???",
        Locale::TrTr => "## ??? ###",
        Locale::ArSa | Locale::FaIr | Locale::JaJp | Locale::ZhCn | Locale::ZhTw => "?? ####",
    }
}
