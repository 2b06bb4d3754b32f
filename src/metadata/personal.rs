//! Personal data in SDV's words, and what else people fill into forms.

/// What a personal or made-up column holds; the words are those of SDV, RDT and the providers they draw from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PersonalKind {
    /// A given name.
    FirstName,
    /// A family name.
    LastName,
    /// A whole name.
    Name,
    /// An email address.
    Email,
    /// A phone number.
    PhoneNumber,
    /// Street, city and postcode in one line.
    Address,
    /// Street and house number.
    StreetAddress,
    /// Flat or suite.
    SecondaryAddress,
    /// A city.
    City,
    /// A state, province or the like.
    State,
    /// The abbreviation of a state.
    StateAbbr,
    /// A state, province or the like, as RDT calls it.
    AdministrativeUnit,
    /// A postcode.
    Postcode,
    /// A country's name.
    Country,
    /// A country's code of two letters (ISO 3166).
    CountryCode,
    /// A social security number.
    Ssn,
    /// An international bank account number (ISO 13616).
    Iban,
    /// A basic bank account number: an IBAN without country and check digits.
    Bban,
    /// A bank's code of eight characters (ISO 9362).
    Swift8,
    /// A bank's code of eleven characters (ISO 9362).
    Swift11,
    /// The number of a credit card.
    CreditCardNumber,
    /// An IPv4 address.
    Ipv4Address,
    /// An IPv6 address.
    Ipv6Address,
    /// The hardware address of a network card.
    MacAddress,
    /// What a browser calls itself.
    UserAgentString,
    /// A vehicle identification number (ISO 3779).
    Vin,
    /// A vehicle's registration plate.
    LicensePlate,
    /// Degrees from the equator, -90 to 90.
    Latitude,
    /// Degrees from Greenwich, -180 to 180.
    Longitude,
    /// A universally unique identifier; SDV's word is `uuid4`, and `uuid` is read as well.
    Uuid,
    /// A web address.
    Url,
    /// A company's name.
    Company,
    /// An occupation.
    Job,
    /// A login name.
    UserName,
    /// A password.
    Password,
    /// A date of birth.
    DateOfBirth,
    /// Free text.
    Text,
    /// Whatever it is, it is not to be told.
    Unknown,
}

impl PersonalKind {
    /// All kinds.
    pub const ALL: [PersonalKind; 38] = [
        PersonalKind::FirstName,
        PersonalKind::LastName,
        PersonalKind::Name,
        PersonalKind::Email,
        PersonalKind::PhoneNumber,
        PersonalKind::Address,
        PersonalKind::StreetAddress,
        PersonalKind::SecondaryAddress,
        PersonalKind::City,
        PersonalKind::State,
        PersonalKind::StateAbbr,
        PersonalKind::AdministrativeUnit,
        PersonalKind::Postcode,
        PersonalKind::Country,
        PersonalKind::CountryCode,
        PersonalKind::Ssn,
        PersonalKind::Iban,
        PersonalKind::Bban,
        PersonalKind::Swift8,
        PersonalKind::Swift11,
        PersonalKind::CreditCardNumber,
        PersonalKind::Ipv4Address,
        PersonalKind::Ipv6Address,
        PersonalKind::MacAddress,
        PersonalKind::UserAgentString,
        PersonalKind::Vin,
        PersonalKind::LicensePlate,
        PersonalKind::Latitude,
        PersonalKind::Longitude,
        PersonalKind::Uuid,
        PersonalKind::Url,
        PersonalKind::Company,
        PersonalKind::Job,
        PersonalKind::UserName,
        PersonalKind::Password,
        PersonalKind::DateOfBirth,
        PersonalKind::Text,
        PersonalKind::Unknown,
    ];

    /// The word SDV's files use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            PersonalKind::FirstName => "first_name",
            PersonalKind::LastName => "last_name",
            PersonalKind::Name => "name",
            PersonalKind::Email => "email",
            PersonalKind::PhoneNumber => "phone_number",
            PersonalKind::Address => "address",
            PersonalKind::StreetAddress => "street_address",
            PersonalKind::SecondaryAddress => "secondary_address",
            PersonalKind::City => "city",
            PersonalKind::State => "state",
            PersonalKind::StateAbbr => "state_abbr",
            PersonalKind::AdministrativeUnit => "administrative_unit",
            PersonalKind::Postcode => "postcode",
            PersonalKind::Country => "country",
            PersonalKind::CountryCode => "country_code",
            PersonalKind::Ssn => "ssn",
            PersonalKind::Iban => "iban",
            PersonalKind::Bban => "bban",
            PersonalKind::Swift8 => "swift8",
            PersonalKind::Swift11 => "swift11",
            PersonalKind::CreditCardNumber => "credit_card_number",
            PersonalKind::Ipv4Address => "ipv4_address",
            PersonalKind::Ipv6Address => "ipv6_address",
            PersonalKind::MacAddress => "mac_address",
            PersonalKind::UserAgentString => "user_agent_string",
            PersonalKind::Vin => "vin",
            PersonalKind::LicensePlate => "license_plate",
            PersonalKind::Latitude => "latitude",
            PersonalKind::Longitude => "longitude",
            PersonalKind::Uuid => "uuid4",
            PersonalKind::Url => "url",
            PersonalKind::Company => "company",
            PersonalKind::Job => "job",
            PersonalKind::UserName => "user_name",
            PersonalKind::Password => "password",
            PersonalKind::DateOfBirth => "date_of_birth",
            PersonalKind::Text => "text",
            PersonalKind::Unknown => "unknown",
        }
    }

    /// The kind that SDV's files call so.
    pub(crate) fn from_name(name: &str) -> Option<PersonalKind> {
        let name = if name == "uuid" { "uuid4" } else { name };
        PersonalKind::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}
