//! Languages and countries that made-up values can be of.

/// A locale, by the names that SDV and its providers use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Locale {
    ArSa,
    CyGb,
    DeDe,
    EnUs,
    FaIr,
    FrFr,
    ItIt,
    JaJp,
    NlNl,
    PtBr,
    PtPt,
    TrTr,
    ZhCn,
    ZhTw,
}

impl Locale {
    pub(crate) const ALL: [Locale; 14] = [
        Locale::ArSa,
        Locale::CyGb,
        Locale::DeDe,
        Locale::EnUs,
        Locale::FaIr,
        Locale::FrFr,
        Locale::ItIt,
        Locale::JaJp,
        Locale::NlNl,
        Locale::PtBr,
        Locale::PtPt,
        Locale::TrTr,
        Locale::ZhCn,
        Locale::ZhTw,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Locale::ArSa => "ar_SA",
            Locale::CyGb => "cy_GB",
            Locale::DeDe => "de_DE",
            Locale::EnUs => "en_US",
            Locale::FaIr => "fa_IR",
            Locale::FrFr => "fr_FR",
            Locale::ItIt => "it_IT",
            Locale::JaJp => "ja_JP",
            Locale::NlNl => "nl_NL",
            Locale::PtBr => "pt_BR",
            Locale::PtPt => "pt_PT",
            Locale::TrTr => "tr_TR",
            Locale::ZhCn => "zh_CN",
            Locale::ZhTw => "zh_TW",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Locale> {
        Locale::ALL.into_iter().find(|locale| locale.name() == name)
    }

    /// The country's code of two letters.
    pub(super) fn country(self) -> &'static str {
        &self.name()[3..]
    }
}
