//! What a column's name says about it: a key, a time, personal data.
//! A name is split into words at signs and capitals; only whole words count, so `valid` says nothing of an id.

use crate::metadata::PersonalKind;

/// Words of a column that says whose row it is.
const KEY_WORDS: [&str; 38] = [
    "id",
    "ids",
    "key",
    "nr",
    "no",
    "uid",
    "uuid",
    "guid",
    "identifier",
    "ident",
    "code",
    "number",
    "patient",
    "subject",
    "person",
    "participant",
    "customer",
    "client",
    "user",
    "account",
    "member",
    "employee",
    "machine",
    "device",
    "sensor",
    "engine",
    "vehicle",
    "asset",
    "unit",
    "store",
    "shop",
    "symbol",
    "ticker",
    "stock",
    "sequence",
    "series",
    "session",
    "entity",
];
/// Words of a column that says when.
const TIME_WORDS: [&str; 30] = [
    "date",
    "dates",
    "datetime",
    "time",
    "timestamp",
    "ts",
    "t",
    "when",
    "day",
    "days",
    "week",
    "weeks",
    "month",
    "months",
    "quarter",
    "year",
    "years",
    "hour",
    "hours",
    "minute",
    "minutes",
    "second",
    "seconds",
    "step",
    "steps",
    "tick",
    "period",
    "epoch",
    "visit",
    "cycle",
];
/// Phrases that end the name of a column of personal data; of several that fit, the longest counts.
const PERSONAL: [(&str, PersonalKind); 58] = [
    ("email", PersonalKind::Email),
    ("e mail", PersonalKind::Email),
    ("email address", PersonalKind::Email),
    ("mail address", PersonalKind::Email),
    ("first name", PersonalKind::FirstName),
    ("firstname", PersonalKind::FirstName),
    ("given name", PersonalKind::FirstName),
    ("forename", PersonalKind::FirstName),
    ("last name", PersonalKind::LastName),
    ("lastname", PersonalKind::LastName),
    ("family name", PersonalKind::LastName),
    ("surname", PersonalKind::LastName),
    ("full name", PersonalKind::Name),
    ("fullname", PersonalKind::Name),
    ("patient name", PersonalKind::Name),
    ("customer name", PersonalKind::Name),
    ("person name", PersonalKind::Name),
    ("employee name", PersonalKind::Name),
    ("user name", PersonalKind::UserName),
    ("username", PersonalKind::UserName),
    ("login", PersonalKind::UserName),
    ("phone", PersonalKind::PhoneNumber),
    ("phone number", PersonalKind::PhoneNumber),
    ("phonenumber", PersonalKind::PhoneNumber),
    ("telephone", PersonalKind::PhoneNumber),
    ("mobile number", PersonalKind::PhoneNumber),
    ("address", PersonalKind::Address),
    ("street address", PersonalKind::StreetAddress),
    ("street", PersonalKind::StreetAddress),
    ("address line 1", PersonalKind::StreetAddress),
    ("secondary address", PersonalKind::SecondaryAddress),
    ("address line 2", PersonalKind::SecondaryAddress),
    ("city", PersonalKind::City),
    ("town", PersonalKind::City),
    ("postcode", PersonalKind::Postcode),
    ("postal code", PersonalKind::Postcode),
    ("zip", PersonalKind::Postcode),
    ("zip code", PersonalKind::Postcode),
    ("zipcode", PersonalKind::Postcode),
    ("ssn", PersonalKind::Ssn),
    ("social security number", PersonalKind::Ssn),
    ("iban", PersonalKind::Iban),
    ("bban", PersonalKind::Bban),
    ("credit card", PersonalKind::CreditCardNumber),
    ("credit card number", PersonalKind::CreditCardNumber),
    ("card number", PersonalKind::CreditCardNumber),
    ("ip", PersonalKind::Ipv4Address),
    ("ip address", PersonalKind::Ipv4Address),
    ("ipv4", PersonalKind::Ipv4Address),
    ("ipv4 address", PersonalKind::Ipv4Address),
    ("ipv6", PersonalKind::Ipv6Address),
    ("ipv6 address", PersonalKind::Ipv6Address),
    ("mac address", PersonalKind::MacAddress),
    ("user agent", PersonalKind::UserAgentString),
    ("vin", PersonalKind::Vin),
    ("license plate", PersonalKind::LicensePlate),
    ("url", PersonalKind::Url),
    ("password", PersonalKind::Password),
];
/// Phrases of columns that may be personal and are as often an ordinary category or quantity.
const PERHAPS_PERSONAL: [(&str, PersonalKind); 12] = [
    ("name", PersonalKind::Name),
    ("state", PersonalKind::State),
    ("province", PersonalKind::AdministrativeUnit),
    ("country", PersonalKind::Country),
    ("country code", PersonalKind::CountryCode),
    ("company", PersonalKind::Company),
    ("job", PersonalKind::Job),
    ("latitude", PersonalKind::Latitude),
    ("longitude", PersonalKind::Longitude),
    ("date of birth", PersonalKind::DateOfBirth),
    ("birth date", PersonalKind::DateOfBirth),
    ("dob", PersonalKind::DateOfBirth),
];

/// A column's name as lower-case words.
#[derive(Debug, Clone)]
pub(super) struct NameWords(Vec<String>);

impl NameWords {
    pub(super) fn of(name: &str) -> NameWords {
        let mut words: Vec<String> = Vec::new();
        let mut word = String::new();
        let mut previous = ' ';
        for character in name.chars() {
            let starts = (character.is_uppercase() && previous.is_lowercase())
                || (character.is_ascii_digit() && previous.is_alphabetic() && word.len() > 3);
            if starts || !character.is_alphanumeric() {
                words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
            }
            if character.is_alphanumeric() {
                word.extend(character.to_lowercase());
            }
            previous = character;
        }
        words.extend((!word.is_empty()).then_some(word));
        NameWords(words)
    }

    /// Whether a word of the name is one of a key.
    pub(super) fn say_key(&self) -> bool {
        !self.say_quantity() && self.has(&KEY_WORDS) && !self.say_time()
    }

    /// Whether the name says id in so many words, whosever it is.
    pub(super) fn say_id(&self) -> bool {
        self.has(&["id", "ids", "uid", "uuid", "guid", "identifier"])
    }

    /// Whether a word of the name is one of time; `day_of_week` and its like come round again.
    pub(super) fn say_time(&self) -> bool {
        self.has(&TIME_WORDS) && !self.has(&["of", "id"])
    }

    pub(super) fn personal(&self) -> Option<PersonalKind> {
        self.longest(&PERSONAL)
    }

    pub(super) fn perhaps_personal(&self) -> Option<PersonalKind> {
        self.longest(&PERHAPS_PERSONAL)
    }

    /// `number_of_visits`, `unit_price`: a quantity, though a key's word be in its name.
    pub(super) fn say_quantity(&self) -> bool {
        const WORDS: [&str; 17] = [
            "price",
            "cost",
            "count",
            "total",
            "nb",
            "num",
            "sales",
            "amount",
            "rate",
            "age",
            "qty",
            "quantity",
            "size",
            "weight",
            "height",
            "temperature",
            "score",
        ];
        self.has(&WORDS) || (self.has(&["number"]) && self.has(&["of"]))
    }

    fn has(&self, words: &[&str]) -> bool {
        self.0.iter().any(|word| words.contains(&word.as_str()))
    }

    fn longest(&self, phrases: &[(&str, PersonalKind)]) -> Option<PersonalKind> {
        let ends_in = |phrase: &str| {
            let wanted: Vec<&str> = phrase.split(' ').collect();
            let start = self.0.len().checked_sub(wanted.len());
            start.is_some_and(|start| self.0[start..].iter().eq(wanted.iter()))
        };
        phrases
            .iter()
            .filter(|(phrase, _)| ends_in(phrase))
            .max_by_key(|(phrase, _)| phrase.len())
            .map(|&(_, kind)| kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_word_by_word() {
        for name in ["patient_id", "PatientId", "patient-ID", "nr", "store id"] {
            assert!(NameWords::of(name).say_key(), "{name}");
        }
        for name in [
            "valid",
            "identity",
            "nb_customers",
            "unit_price",
            "number_of_visits",
            "day",
        ] {
            assert!(!NameWords::of(name).say_key(), "{name}");
        }
        for name in ["date", "orderDate", "visit_day", "t"] {
            assert!(NameWords::of(name).say_time(), "{name}");
        }
        for name in ["day_of_week", "holiday", "temperature"] {
            assert!(!NameWords::of(name).say_time(), "{name}");
        }
    }

    #[test]
    fn personal_names_end_in_their_phrase() {
        let kind = |name: &str| NameWords::of(name).personal();
        assert_eq!(kind("customer_email"), Some(PersonalKind::Email));
        assert_eq!(kind("FirstName"), Some(PersonalKind::FirstName));
        assert_eq!(kind("ip_address"), Some(PersonalKind::Ipv4Address));
        assert_eq!(kind("address_line1"), Some(PersonalKind::StreetAddress));
        assert_eq!(kind("emails_sent"), None);
        assert_eq!(kind("capacity"), None);
        assert_eq!(kind("virginity"), None);
    }
}
