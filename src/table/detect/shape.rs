//! The shape that all ids of a column share, as a `regex_format`.
//! In: distinct texts. Out: a pattern with far more texts than were seen, or none.

use crate::metadata::Pattern;

/// With fewer ids, a place where they agree may do so by chance.
const FEWEST: usize = 5;
/// A pattern must have so many times as many texts as there are ids, for new ones to be found.
const ROOM: u128 = 1_000;
const LONGEST: usize = 64;

/// The characters seen at one place of an id.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Place {
    digits: bool,
    hex: bool,
    lower: bool,
    upper: bool,
}

impl Place {
    fn class(self) -> &'static str {
        match (self.digits, self.hex, self.lower, self.upper) {
            (_, false, false, false) => r"\d",
            (_, true, false, false) => "[0-9a-f]",
            (false, _, true, false) => "[a-z]",
            (false, _, false, true) => "[A-Z]",
            (false, _, true, true) => "[A-Za-z]",
            (true, _, true, false) => "[0-9a-z]",
            (true, _, false, true) => "[0-9A-Z]",
            (true, _, true, true) => "[0-9A-Za-z]",
        }
    }
}

/// The pattern of ids that differ in letters, not in numbers alone: those continue their numbering unasked.
pub(super) fn shared_shape(texts: &[&str]) -> Option<String> {
    let length = texts.first()?.len();
    let is_plain = |text: &&&str| text.is_ascii() && text.len() == length;
    if texts.len() < FEWEST || length > LONGEST || !texts.iter().all(|text| is_plain(&text)) {
        return None;
    }
    let places: Vec<Result<char, Place>> = (0..length)
        .map(|at| place(texts, at))
        .collect::<Option<_>>()?;
    let varied = || places.iter().filter_map(|place| place.as_ref().err());
    // Digits with letters a to f: one alphabet for the whole id, wherever which of them was seen.
    let is_hexadecimal = varied().any(|place| place.hex && place.digits)
        && varied().all(|place| !place.lower && !place.upper);
    let has_letters = varied().any(|place| place.hex || place.lower || place.upper);
    if !has_letters
        || !texts
            .iter()
            .any(|text| text.bytes().any(|byte| byte.is_ascii_digit()))
    {
        return None;
    }
    let parts = places.iter().map(|place| match place {
        Ok(character) => escaped(*character),
        Err(_) if is_hexadecimal => "[0-9a-f]".to_owned(),
        Err(place) if place.hex && !place.digits => Place {
            lower: true,
            ..*place
        }
        .class()
        .to_owned(),
        Err(place) if place.hex && (place.upper || place.lower) => Place {
            lower: true,
            ..*place
        }
        .class()
        .to_owned(),
        Err(place) => place.class().to_owned(),
    });
    let mut regex = String::new();
    let parts: Vec<String> = parts.collect();
    for run in parts.chunk_by(|left, right| left == right) {
        regex.push_str(&run[0]);
        if run.len() > 1 {
            regex.push_str(&format!("{{{}}}", run.len()));
        }
    }
    let pattern = Pattern::compile(&regex).ok()?;
    let room = ROOM.saturating_mul(texts.len() as u128);
    (pattern.capacity() >= room).then_some(regex)
}

/// The one character at a place, or what its characters are; none where signs differ.
fn place(texts: &[&str], at: usize) -> Option<Result<char, Place>> {
    let mut characters = texts.iter().map(|text| text.as_bytes()[at]);
    let first = characters.next()?;
    let mut place = Place::default();
    let mut varies = false;
    for byte in std::iter::once(first).chain(characters) {
        varies |= byte != first;
        match byte {
            b'0'..=b'9' => place.digits = true,
            b'a'..=b'f' => place.hex = true,
            b'g'..=b'z' => place.lower = true,
            b'A'..=b'Z' => place.upper = true,
            _ if varies => return None,
            _ => {}
        }
    }
    let is_sign = place == Place::default();
    match (varies, is_sign) {
        (false, _) => Some(Ok(char::from(first))),
        (true, false) if first.is_ascii_alphanumeric() => Some(Err(place)),
        (true, _) => None,
    }
}

fn escaped(character: char) -> String {
    if character.is_ascii_alphanumeric() || "-_ :/#@".contains(character) {
        character.to_string()
    } else {
        format!("\\{character}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_codes_have_a_shape_and_numbered_ones_need_none() {
        let uuids = [
            "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
            "9a0c05e8-2c33-4f89-8d3f-2504e04f8941",
            "c3301305-e82c-41d3-b9a0-4f893f2504e0",
            "04f89410-3f25-4e82-a9a0-c3301305e82c",
            "e82c4f89-0305-4041-9d3f-25049a0c3301",
        ];
        let regex = shared_shape(&uuids).unwrap();
        assert_eq!(
            regex,
            "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"
        );
        let codes = ["K7-AX", "B3-QP", "Z9-MM", "C1-LT", "H4-OA"];
        assert_eq!(shared_shape(&codes), Some(r"[A-Z]\d-[A-Z]{2}".to_owned()));
        let numbered = [
            "AL011993-0",
            "AL021993-0",
            "AL031993-0",
            "AL041993-0",
            "AL051993-1",
        ];
        assert_eq!(shared_shape(&numbered), None);
        assert_eq!(
            shared_shape(&["0870", "0123", "1111", "0001", "4711"]),
            None
        );
    }

    #[test]
    fn words_unequal_lengths_and_crowded_shapes_have_none() {
        assert_eq!(
            shared_shape(&["AAPL", "MSFT", "GOOG", "NVDA", "ORCL"]),
            None
        );
        assert_eq!(shared_shape(&["a1", "b2", "c34", "d5", "e6"]), None);
        assert_eq!(shared_shape(&["a1", "b1", "c1", "d1", "e1"]), None);
        assert_eq!(
            shared_shape(&["é1234", "f1234", "g1234", "h1234", "j1234"]),
            None
        );
    }
}
