use super::*;
use crate::digest::Digester;
use proptest::prelude::*;

fn picture(n: u64) -> Vec<u8> {
    let mut picture = Vec::new();
    write_mandelbrot(n, &mut picture).unwrap();
    picture
}

/// The task as its description has it: every pixel by itself, every step looked at.
fn plain_picture(n: u64) -> Vec<u8> {
    let mut picture = format!("P4\n{n} {n}\n").into_bytes();
    for y in 0..n {
        for byte in 0..n.div_ceil(8) {
            let bit = |place| (8 * byte + place < n && is_black(8 * byte + place, y, n)) as u8;
            picture.push((0..8).fold(0, |bits, place| bits << 1 | bit(place)));
        }
    }
    picture
}

fn is_black(x: u64, y: u64, n: u64) -> bool {
    let (real, imaginary) = (2.0 * x as f64 / n as f64 - 1.5, 2.0 * y as f64 / n as f64 - 1.0);
    let (mut z_real, mut z_imaginary) = (0.0_f64, 0.0_f64);
    for _ in 0..50 {
        let next = z_real * z_real - z_imaginary * z_imaginary + real;
        z_imaginary = 2.0 * z_real * z_imaginary + imaginary;
        z_real = next;
        if z_real * z_real + z_imaginary * z_imaginary > 4.0 {
            return false;
        }
    }
    true
}

fn assert_published(n: u64) {
    let (_, published) = PUBLISHED_SHA256.into_iter().find(|(known, _)| *known == n).unwrap();
    let mut digester = Digester::default();
    write_mandelbrot(n, &mut digester).unwrap();
    assert_eq!(digester.finish().sha256(), published);
}

#[test]
fn published_digest_of_the_sample_is_met() {
    assert_published(200);
}

#[test]
#[ignore = "takes minutes without optimisation"]
fn published_digest_of_the_largest_is_met() {
    assert_published(16_000);
}

#[test]
fn published_lengths_are_met() {
    assert_eq!(mandelbrot_bytes(200), 5_011);
    assert_eq!(mandelbrot_bytes(16_000), 32_000_015);
}

#[test]
fn a_small_picture_is_the_set() {
    let picture = picture(24);
    let rows = picture[header(24).len()..].chunks(3);
    let pixels = |row: &[u8]| row.iter().map(|byte| format!("{byte:08b}")).collect::<String>();
    let lines: Vec<String> = rows.map(|row| pixels(row).replace('0', ".")).collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    ..................1.....
    ........................
    ................11......
    ................11......
    ................11......
    ............111111111...
    ............1111111111..
    ...........111111111111.
    ..........11111111111111
    ....1.11..1111111111111.
    ....11111.1111111111111.
    ....11111.1111111111111.
    1111111111111111111111..
    ....11111.1111111111111.
    ....11111.1111111111111.
    ....1.11..1111111111111.
    ..........11111111111111
    ...........111111111111.
    ............1111111111..
    ............111111111...
    ................11......
    ................11......
    ................11......
    ........................
    ");
}

#[test]
fn nothing_but_the_header_for_zero() {
    assert_eq!(picture(0), b"P4\n0 0\n");
}

#[test]
fn padding_is_white() {
    for n in 1..=17 {
        let picture = picture(n);
        let row_bytes = n.div_ceil(8) as usize;
        for row in picture[header(n).len()..].chunks(row_bytes) {
            let padding = u8::MAX.checked_shr(8 - (row_bytes as u32 * 8 - n as u32));
            assert_eq!(row[row_bytes - 1] & padding.unwrap_or(0), 0, "N = {n}");
        }
    }
}

#[test]
fn lengths_saturate() {
    assert_eq!(mandelbrot_bytes(u64::MAX), u64::MAX);
}

#[test]
fn an_error_of_the_writer_is_passed_on() {
    let mut full = [0_u8; 100];
    let error = write_mandelbrot(200, &mut full.as_mut_slice()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WriteZero);
}

/// Points on a line from the centre of the cardioid or of the disc, beyond the edge at 1.
fn points_around_the_edge() -> impl Strategy<Value = (f64, f64)> {
    let angle = 0.0..std::f64::consts::TAU;
    let distance = prop_oneof![0.0..1.0, 0.999..1.001, 0.999_999_9..1.000_000_1];
    (angle, distance, any::<bool>()).prop_map(|(angle, distance, in_cardioid)| {
        let (x, y) = (distance * angle.cos(), distance * angle.sin());
        match in_cardioid {
            // w/2 − w²/4 for w = x + iy: the edge is |w| = 1.
            true => (x / 2.0 - (x * x - y * y) / 4.0, y / 2.0 - x * y / 2.0),
            false => (x / 4.0 - 1.0, y / 4.0),
        }
    })
}

proptest! {
    #[test]
    fn what_is_not_iterated_would_not_escape((real, imaginary) in points_around_the_edge()) {
        if is_surely_black(real, imaginary) {
            prop_assert_eq!(iterate(&[real; LANES], imaginary), u8::MAX);
        }
    }

    #[test]
    fn nearly_all_of_both_parts_is_decided_without_iterating(
        angle in 0.0..std::f64::consts::TAU, distance in 0.0..0.99,
    ) {
        let (x, y) = (distance * angle.cos(), distance * angle.sin());
        let in_cardioid = is_surely_black(x / 2.0 - (x * x - y * y) / 4.0, y / 2.0 - x * y / 2.0);
        prop_assert!(in_cardioid && is_surely_black(x / 4.0 - 1.0, y / 4.0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn picture_equals_the_plain_method(n in 0_u64..120) {
        prop_assert!(picture(n) == plain_picture(n));
        prop_assert_eq!(picture(n).len() as u64, mandelbrot_bytes(n));
    }
}
