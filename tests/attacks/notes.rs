//! Signed notes that the database's key does not stand by.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::case::{accepted, check, refused};
use crate::log::{database_key, impostor, renamed, signature};
use crate::scene::Scene;
use crate::world::NOW;

/// Answers with the head of now under these signature lines.
fn answer_signed(scene: &Scene, signatures: impl FnOnce(&str) -> String) {
    let text = scene.world.log.head(NOW);
    let signatures = signatures(&text);
    scene.answer_with_note(&format!("{text}\n{signatures}"));
}

/// A signature line by the database's key, of bytes that are not its signature.
fn by_key(bytes: &[u8]) -> String {
    let key = database_key();
    let mut signature = key.verifier().hash().to_be_bytes().to_vec();
    signature.extend(bytes);
    format!("\u{2014} {} {}\n", key.verifier().name(), STANDARD.encode(signature))
}

/// The bytes of a signature line after the hash of its key.
fn bytes_of(line: &str) -> Vec<u8> {
    STANDARD.decode(line.trim_end().rsplit(' ').next().unwrap()).unwrap()[4..].to_vec()
}

fn honest(text: &str) -> String {
    signature(text, &database_key())
}

fn stranger(number: u32) -> String {
    format!(
        "\u{2014} witness{number}.example.test {}\n",
        STANDARD.encode(number.to_be_bytes().repeat(9))
    )
}

#[test]
fn notes() {
    check(
        "notes",
        vec![
            refused("unsigned: no signature lines", |scene| {
                answer_signed(scene, |_| String::new())
            }),
            refused("unsigned: no blank line either", |scene| {
                scene.answer_with_note(&scene.world.log.head(NOW));
            }),
            refused("signed by strangers only", |scene| answer_signed(scene, |_| stranger(1))),
            refused("signed by another key of the database's name", |scene| {
                answer_signed(scene, |text| signature(text, &impostor()));
            }),
            refused("signed by the database's key under another name", |scene| {
                answer_signed(scene, |text| signature(text, &renamed()));
            }),
            refused("the database's name and key hash, another key's signature", |scene| {
                answer_signed(scene, |text| by_key(&bytes_of(&signature(text, &impostor()))));
            }),
            refused("signature with one bit flipped", |scene| {
                answer_signed(scene, |text| {
                    let mut bytes = bytes_of(&honest(text));
                    bytes[40] ^= 1;
                    by_key(&bytes)
                });
            }),
            refused("signature of zeros", |scene| answer_signed(scene, |_| by_key(&[0; 64]))),
            refused("signature cut short", |scene| {
                answer_signed(scene, |text| by_key(&bytes_of(&honest(text))[..63]));
            }),
            refused("signature of another text", |scene| {
                answer_signed(scene, |_| honest("go.sum database tree\n1\n"));
            }),
            refused("size raised by one under the old signature", |scene| {
                let head = scene.head_now().replacen("70000", "70001", 1);
                scene.answer_with_note(&head);
            }),
            refused("a bad signature by the database, then a good one", |scene| {
                answer_signed(scene, |text| by_key(&[1; 64]) + &honest(text));
            }),
            refused("a signature line without a dash", |scene| {
                answer_signed(scene, |text| honest(text).replacen('\u{2014}', "-", 1));
            }),
            refused("a signature line that is not base64", |scene| {
                answer_signed(scene, |text| honest(text) + "\u{2014} witness.example.test ???\n");
            }),
            refused("a hundred and one signatures", |scene| {
                answer_signed(scene, |text| {
                    (0..100).map(stranger).collect::<String>() + &honest(text)
                });
            }),
            refused("no line feed at the end", |scene| {
                answer_signed(scene, |text| honest(text).trim_end().to_owned());
            }),
            refused("CR LF", |scene| {
                scene.answer_with_note(&scene.head_now().replace('\n', "\r\n"))
            }),
            accepted("signatures of strangers beside the database's", |scene| {
                answer_signed(scene, |text| stranger(1) + &honest(text) + &stranger(2));
            }),
            accepted("signature of another key of its name beside the database's", |scene| {
                answer_signed(scene, |text| signature(text, &impostor()) + &honest(text));
            }),
            accepted("a good signature by the database, then a bad one", |scene| {
                answer_signed(scene, |text| honest(text) + &by_key(&[1; 64]));
            }),
        ],
    );
}
