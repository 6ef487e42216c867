//! The keys of signed notes, and their text forms.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use sha2::{Digest as _, Sha256};

/// The only signature algorithm of checksum databases, as its byte before a key.
const ED25519: u8 = 1;

const PRIVATE_PREFIX: &str = "PRIVATE+KEY+";

/// A key that notes are checked against, written `name+hash+base64`.
///
/// The hash ties the name to the key; it is recomputed on parsing, so a key under another name
/// is refused.
///
/// Source: golang.org/x/mod/sumdb/note.
#[derive(Clone, PartialEq, Eq)]
pub struct VerifierKey {
    name: String,
    hash: u32,
    key: VerifyingKey,
}

/// A key that signs notes, for a checksum database of one's own.
///
/// `Debug` does not show the secret; [`SignerKey::private_text`] does.
#[derive(Clone)]
pub struct SignerKey {
    verifier: VerifierKey,
    key: SigningKey,
}

/// The text is not a key. Does not repeat the text, which may be secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("expected name+hash+base64 with a hash of 8 hexadecimal digits")]
    Form,
    #[error("expected PRIVATE+KEY+name+hash+base64 with a hash of 8 hexadecimal digits")]
    PrivateForm,
    #[error(
        "the name of a key must not be empty nor hold spaces, plus signs or control characters"
    )]
    Name,
    #[error("the last part is not an Ed25519 key in base64")]
    Key,
    #[error("the hash is {found:08x}, but this name and key have the hash {expected:08x}")]
    Hash { expected: u32, found: u32 },
}

impl VerifierKey {
    /// Reads `name+hash+base64`, for example `sum.golang.org+033de0ae+…`.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the form, the name or the key is wrong, or the hash is not theirs.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let (name, hash, encoded) = split(text).ok_or(KeyError::Form)?;
        let key = VerifyingKey::from_bytes(&decode(encoded)?).map_err(|_| KeyError::Key)?;
        if key.is_weak() {
            return Err(KeyError::Key);
        }
        VerifierKey::new(name, key)?.with_hash(hash)
    }

    /// The name of who signs, such as `sum.golang.org`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The first four bytes of the SHA-256 over name and key; signatures carry it.
    pub fn hash(&self) -> u32 {
        self.hash
    }

    /// Whether `signature` is this key's over `text`, by the strict rules that leave every text
    /// and key exactly one set of valid signatures.
    pub(super) fn verifies(&self, text: &str, signature: &[u8]) -> bool {
        Signature::from_slice(signature)
            .is_ok_and(|signature| self.key.verify_strict(text.as_bytes(), &signature).is_ok())
    }

    fn new(name: &str, key: VerifyingKey) -> Result<Self, KeyError> {
        if !is_key_name(name) {
            return Err(KeyError::Name);
        }
        let mut digest = Sha256::new();
        digest.update(name);
        digest.update([b'\n', ED25519]);
        digest.update(key.as_bytes());
        let [a, b, c, d, ..]: [u8; 32] = digest.finalize().into();
        Ok(VerifierKey { name: name.to_owned(), hash: u32::from_be_bytes([a, b, c, d]), key })
    }

    fn with_hash(self, found: u32) -> Result<Self, KeyError> {
        if self.hash != found {
            return Err(KeyError::Hash { expected: self.hash, found });
        }
        Ok(self)
    }
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{:08x}+{}", self.name, self.hash, encode(self.key.as_bytes()))
    }
}

impl fmt::Debug for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerifierKey({self})")
    }
}

impl FromStr for VerifierKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        VerifierKey::parse(text)
    }
}

impl SignerKey {
    /// Makes the key called `name` whose secret is `seed`; whoever knows the seed can sign.
    ///
    /// # Errors
    ///
    /// [`KeyError::Name`] if a note could not carry the name.
    pub fn from_seed(name: &str, seed: &[u8; 32]) -> Result<Self, KeyError> {
        let key = SigningKey::from_bytes(seed);
        Ok(SignerKey { verifier: VerifierKey::new(name, key.verifying_key())?, key })
    }

    /// Reads the form that [`SignerKey::private_text`] writes.
    ///
    /// # Errors
    ///
    /// [`KeyError`], which never holds a part of `text`.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let parts = text.strip_prefix(PRIVATE_PREFIX).and_then(split);
        let (name, hash, encoded) = parts.ok_or(KeyError::PrivateForm)?;
        let signer = SignerKey::from_seed(name, &decode(encoded)?)?;
        let SignerKey { verifier, key } = signer;
        Ok(SignerKey { verifier: verifier.with_hash(hash)?, key })
    }

    /// Writes the secret: `PRIVATE+KEY+name+hash+base64`.
    pub fn private_text(&self) -> String {
        let VerifierKey { name, hash, .. } = &self.verifier;
        format!("{PRIVATE_PREFIX}{name}+{hash:08x}+{}", encode(self.key.as_bytes()))
    }

    /// The key that notes signed by this one are checked against.
    pub fn verifier(&self) -> &VerifierKey {
        &self.verifier
    }

    pub(super) fn signature(&self, text: &str) -> [u8; 64] {
        self.key.sign(text.as_bytes()).to_bytes()
    }
}

impl fmt::Debug for SignerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SignerKey(secret of {})", self.verifier)
    }
}

/// Whether a key, and so a signature line, may carry `name`.
pub(super) fn is_key_name(name: &str) -> bool {
    let breaks =
        |character: char| character == '+' || character.is_whitespace() || character.is_control();
    !name.is_empty() && !name.contains(breaks)
}

fn split(text: &str) -> Option<(&str, u32, &str)> {
    let (name, rest) = text.split_once('+')?;
    let (hash, encoded) = rest.split_once('+')?;
    let is_hex = hash.len() == 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let hash = is_hex.then(|| u32::from_str_radix(hash, 16).ok())??;
    Some((name, hash, encoded))
}

fn decode(encoded: &str) -> Result<[u8; 32], KeyError> {
    let bytes = STANDARD.decode(encoded).map_err(|_| KeyError::Key)?;
    match bytes.split_first() {
        Some((&ED25519, key)) => key.try_into().map_err(|_| KeyError::Key),
        _ => Err(KeyError::Key),
    }
}

fn encode(key: &[u8; 32]) -> String {
    let mut bytes = vec![ED25519];
    bytes.extend(key);
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn signer() -> SignerKey {
        SignerKey::from_seed("example.test/db", &[7; 32]).unwrap()
    }

    #[test]
    fn a_key_made_by_the_go_implementation_is_read() {
        // The example key of golang.org/x/mod/sumdb/note's documentation.
        let text = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
        let key = VerifierKey::parse(text).unwrap();
        assert_eq!((key.name(), key.hash()), ("PeterNeumann", 0xc74f_20a3));
        assert_eq!(key.to_string(), text);
    }

    #[test]
    fn refuses_what_is_not_a_verifier_key() {
        let good = signer().verifier().to_string();
        let (name_and_hash, encoded) = good.rsplit_once('+').unwrap();
        let other_hash =
            good.replacen(&format!("{:08x}", signer().verifier().hash()), "00000000", 1);
        assert_eq!(VerifierKey::parse("on"), Err(KeyError::Form));
        assert_eq!(VerifierKey::parse("a+1234567+x"), Err(KeyError::Form));
        assert_eq!(VerifierKey::parse("a++234567+x"), Err(KeyError::Form));
        assert!(matches!(VerifierKey::parse(&other_hash), Err(KeyError::Hash { .. })));
        assert!(matches!(
            VerifierKey::parse(&good.replacen("example", "Example", 1)),
            Err(KeyError::Hash { .. })
        ));
        assert_eq!(VerifierKey::parse(&format!("+{good}")), Err(KeyError::Form));
        for bad in [
            "",
            "AQ==",
            "A",
            &encoded[1..],
            &format!("{encoded}="),
            &format!("Ag{}", &encoded[2..]),
        ] {
            let text = format!("{name_and_hash}+{bad}");
            assert_eq!(VerifierKey::parse(&text), Err(KeyError::Key), "{text}");
        }
        assert_eq!(SignerKey::from_seed("a b", &[0; 32]).unwrap_err(), KeyError::Name);
        assert_eq!(SignerKey::from_seed("", &[0; 32]).unwrap_err(), KeyError::Name);
    }

    #[test]
    fn refuses_a_weak_key() {
        // The neutral element signs everything.
        let mut neutral = [0; 32];
        neutral[0] = 1;
        assert_eq!(
            VerifierKey::parse(&format!("a+00000000+{}", encode(&neutral))),
            Err(KeyError::Key)
        );
    }

    #[test]
    fn the_secret_is_shown_only_when_asked_for() {
        let signer = signer();
        let secret = encode(&[7; 32]);
        assert!(signer.private_text().ends_with(&secret));
        assert!(!format!("{signer:?}").contains(&secret));
        let broken = signer.private_text().replacen("example", "x", 1);
        assert!(!SignerKey::parse(&broken).unwrap_err().to_string().contains(&secret));
    }

    proptest! {
        #[test]
        fn keys_round_trip(seed: [u8; 32], name in "[a-z./]{1,20}") {
            let signer = SignerKey::from_seed(&name, &seed).unwrap();
            let again = SignerKey::parse(&signer.private_text()).unwrap();
            prop_assert_eq!(again.verifier(), signer.verifier());
            prop_assert_eq!(again.private_text(), signer.private_text());
            let verifier = VerifierKey::parse(&signer.verifier().to_string());
            prop_assert_eq!(verifier.as_ref(), Ok(signer.verifier()));
        }

        #[test]
        fn arbitrary_text_never_panics(text: String, tail in "[a-z+A-Z0-9/=]{0,80}") {
            for text in [text, format!("a+{tail}"), format!("{PRIVATE_PREFIX}{tail}")] {
                let _ = VerifierKey::parse(&text);
                prop_assert!(SignerKey::parse(&text).is_err());
            }
        }
    }
}
