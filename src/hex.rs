//! Digests as text.

/// Writes bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Reads 32 bytes from 64 lower-case hexadecimal digits; `None` for every other text.
pub fn unhex(text: &str) -> Option<[u8; 32]> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let digits: &[u8; 64] = text.as_bytes().try_into().ok()?;
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_two_digits() {
        assert_eq!(hex(&[0x00, 0x0a, 0xf3, 0xff]), "000af3ff");
        assert_eq!(hex(&[]), "");
    }

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let bytes: [u8; 32] = std::array::from_fn(|place| (place * 9) as u8);
        let text = hex(&bytes);
        assert_eq!(unhex(&text), Some(bytes));
        let other = [text[1..].to_owned(), format!("{text}0"), text.to_uppercase(), " ".repeat(64)];
        for text in other {
            assert_eq!(unhex(&text), None, "{text}");
        }
    }
}
