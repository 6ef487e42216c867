#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gosurvey_fuzz::tree_head(bytes));
