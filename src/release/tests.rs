use super::*;
use crate::platform::Platform;
use proptest::prelude::*;

fn release(text: &str) -> Release {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn linux() -> Platform {
    Platform { os: "linux".into(), arch: "amd64".into() }
}

fn listing(body: &str) -> Listing {
    Listing::parse(body, &linux()).unwrap()
}

/// A list as a real proxy gives it: unsorted, every platform, twice the same, betas, and the one
/// published name that is no version.
const REAL_LIST: &str = "\
v0.0.1-go1.21.13.linux-amd64
v0.0.1-go1.9.2rc2.linux-amd64
v0.0.1-go1.4.2.darwin-amd64
v0.0.1-go1.4.2.darwin-amd64
v0.0.1-go1.10.8.linux-amd64 2024-02-01T00:00:00Z
v0.0.1-go1.9.7.linux-amd64
v0.0.1-go1.9rc2.windows-amd64
v0.0.1-go1.20.linux-amd64
v0.0.1-go1.21.0.linux-amd64
v0.0.1-go1.27rc1.linux-amd64
v0.0.1-go1.21.9.linux-amd64
v0.0.1-go1.28.0.linux-arm64
";

mod order {
    use super::*;

    #[test]
    fn is_the_go_commands() {
        let ascending = [
            "1",
            "1.2.2",
            "1.3rc1",
            "1.3",
            "1.3.3",
            "1.9",
            "1.9.7",
            "1.10beta1",
            "1.10",
            "1.18beta1",
            "1.18beta2",
            "1.18rc1",
            "1.18",
            "1.18.1",
            "1.18.10",
            "1.20rc3",
            "1.20",
            "1.20.1",
            "1.21",
            "1.21rc1",
            "1.21rc2",
            "1.21.0",
            "1.21.1",
            "1.27rc1",
            "2",
        ];
        for pair in ascending.windows(2) {
            assert!(release(pair[0]) < release(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn patch_zero_is_implied_before_1_21_only() {
        assert_eq!(release("1.20.0"), release("1.20"));
        assert_eq!(release("1.20.0").to_string(), "go1.20");
        assert!(release("1.21") < release("1.21.0"));
        assert_eq!(release("1.21.0").to_string(), "go1.21.0");
        assert_eq!(release("1.0.0").to_string(), "go1");
    }

    #[test]
    fn only_patched_or_pre_1_21_versions_are_stable() {
        for stable in ["1.2.2", "1.20", "1.21.0"] {
            assert!(release(stable).is_stable(), "{stable}");
        }
        for other in ["1.21", "1.21rc1", "1.18beta1", "1.9rc2"] {
            assert!(!release(other).is_stable(), "{other}");
        }
    }
}

mod grammar {
    use super::*;

    #[test]
    fn refuses_what_the_go_command_refuses() {
        for text in [
            "",
            "go",
            "v1.2",
            "1.",
            "1.2.",
            "01.2",
            "1.02",
            "1.2.03",
            "1.9.2rc2",
            "1.2rc01",
            "1.2RC1",
            "1.2 ",
            " 1.2",
            "1.2-rc1",
            "1.2.3.4",
            "-1.2",
            "+1.2",
            "gogo1.2",
            "1..2",
            "1.99999999999999999999999",
        ] {
            let error = text.parse::<Release>().unwrap_err();
            assert!(error.to_string().contains(&format!("{text:?}")), "{error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(
            major in 0..4_u64, minor in 0..60_u64, patch in 0..30_u64, shape in 0..4_u8
        ) {
            let text = match shape {
                0 => format!("{major}.{minor}"),
                1 => format!("{major}.{minor}.{patch}"),
                2 => format!("{major}.{minor}rc{patch}"),
                _ => format!("{major}.{minor}beta{patch}"),
            };
            let parsed = release(&text);
            prop_assert_eq!(&release(&parsed.to_string()), &parsed);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "(go)?[0-9.a-z+=/]{0,16}", any: String) {
            for text in [text, any] {
                let _ = text.parse::<Release>();
                let _ = text.parse::<Variant>();
                let _ = text.parse::<Selection>();
            }
        }

        /// Only patch 0 before Go 1.21, and minor 0 with it, may be written in more than one way.
        #[test]
        fn a_changed_version_is_refused_or_another_one(
            release in releases(), place: prop::sample::Index, text in "[0-9a-z. +-]{0,2}", cut in 0..3_usize
        ) {
            let written = release.version();
            let start = place.index(written.len() + 1);
            let end = (start + cut).min(written.len());
            let changed = format!("{}{text}{}", &written[..start], &written[end..]);
            if let Ok(other) = changed.parse::<Release>() {
                let unsaid = changed.strip_prefix("go").unwrap_or(&changed).strip_prefix(&other.version());
                let is_canonical = unsaid == Some("");
                let leaves_zeros_out = matches!(unsaid, Some(".0" | ".0.0")) && other.minor().minor < 21;
                prop_assert!(is_canonical || leaves_zeros_out, "{changed} became {other}");
                prop_assert_eq!(other == release, other.version() == written);
            }
        }
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_the_numbers(a in releases(), b in releases(), c in releases()) {
            prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
            prop_assert_eq!(a == b, a.to_string() == b.to_string());
            if a <= b && b <= c {
                prop_assert!(a <= c);
            }
            if a.minor() != b.minor() {
                prop_assert_eq!(a.cmp(&b), a.minor().cmp(&b.minor()));
            } else if !a.is_stable() && b.is_stable() {
                prop_assert!(a < b);
            }
        }
    }
}

/// Any kind of release, of few minors so that neighbours meet.
fn releases() -> impl Strategy<Value = Release> {
    let tail = prop_oneof!["", "\\.[0-9]", "\\.1[0-9]", "(alpha|beta|rc)[0-9]?"];
    ((0..3_u64), prop_oneof![0..3_u64, 19..23_u64], tail)
        .prop_map(|(major, minor, tail)| release(&format!("{major}.{minor}{tail}")))
}

mod lists {
    use super::*;

    #[test]
    fn keep_this_platforms_versions_once_in_order() {
        let listed: Vec<String> = listing(REAL_LIST).all().iter().map(Release::to_string).collect();
        assert_eq!(
            listed,
            ["go1.9.7", "go1.10.8", "go1.20", "go1.21.0", "go1.21.9", "go1.21.13", "go1.27rc1"]
        );
    }

    /// Fields end at any space, as they do for the go command; `list` of the fuzz targets compares.
    #[test]
    fn lines_are_taken_apart_in_one_way() {
        let lines = [
            "v0.0.1-go1.21.0.linux-amd64\u{a0}2024-02-01T00:00:00Z",
            "\u{2003}v0.0.1-go1.21.1.linux-amd64",
            "v0.0.1-go1.21.2.linux-amd64-x",
            "v0.0.1-go1.21.3.linux/amd64",
        ];
        let listed: Vec<String> =
            listing(&lines.join("\n")).all().iter().map(Release::to_string).collect();
        assert_eq!(listed, ["go1.21.0", "go1.21.1"]);
        let versions: Vec<&str> = lines
            .iter()
            .filter_map(|line| Some(crate::module::ListLine::parse(line)?.version))
            .collect();
        assert_eq!(versions, ["1.21.0", "1.21.1"]);
    }

    #[test]
    fn what_only_looks_like_a_toolchain_is_an_error_page() {
        let error = Listing::parse("v0.0.1-go is not here", &linux()).unwrap_err();
        assert_eq!(error.first, "v0.0.1-go is not here");
    }

    #[test]
    fn latest_patches_are_one_a_minor_and_stable() {
        let list = listing(REAL_LIST);
        let latest: Vec<String> = list.latest_patches().iter().map(|r| r.to_string()).collect();
        assert_eq!(latest, ["go1.9.7", "go1.10.8", "go1.20", "go1.21.13"]);
    }

    #[test]
    fn an_error_page_is_not_an_empty_offer() {
        let error = Listing::parse("\n<html>sorry</html>\n", &linux()).unwrap_err();
        assert_eq!(error.first, "<html>sorry</html>");
        let elsewhere = Listing::parse("v0.0.1-go1.28.0.plan9-arm\n", &linux()).unwrap();
        assert_eq!(elsewhere.all(), []);
    }

    fn line(release: &Release) -> String {
        format!("v0.0.1-{release}.linux-amd64\n")
    }

    fn noise() -> impl Strategy<Value = String> {
        prop_oneof![
            releases().prop_map(|release| format!("v0.0.1-{release}.linux-arm64\n")),
            releases().prop_map(|release| format!("v0.0.1-{release}+.linux-amd64\n")),
            "[ -~]{0,20}\n",
        ]
    }

    proptest! {
        #[test]
        fn any_body_is_read_or_refused(body in "[v0-9.gorcbeta\\-linuxamd64 \n]{0,200}", any: String) {
            let _ = Listing::parse(&body, &linux());
            let _ = Listing::parse(&any, &linux());
        }

        #[test]
        fn what_is_listed_is_read_whatever_stands_around_it(
            listed in prop::collection::vec(releases(), 1..8),
            noise in prop::collection::vec(noise(), 0..8),
            shuffle: prop::sample::Index,
        ) {
            let mut lines: Vec<String> = listed.iter().map(line).chain(noise).collect();
            let middle = shuffle.index(lines.len());
            lines.rotate_left(middle);
            lines.extend_from_within(..middle);
            let read = listing(&lines.concat());
            let mut expected = listed;
            expected.sort();
            expected.dedup();
            prop_assert_eq!(read.all(), &expected);
        }

        #[test]
        fn a_changed_line_is_passed_over_or_names_what_it_says(
            release in releases(), place: prop::sample::Index, character in "[ -~é]"
        ) {
            let mut changed = line(&release);
            let place = place.index(changed.len());
            changed.replace_range(place..=place, &character);
            let body = format!("{changed}\nv0.0.1-go1.2.2.plan9-386\n");
            for read in listing(&body).all() {
                let spellings = ["", ".0", ".0.0"].map(|zeros| {
                    format!("v0.0.1-{read}{zeros}.linux-amd64")
                });
                let first = changed.split_whitespace().next().unwrap_or_default();
                prop_assert!(spellings.iter().any(|spelling| spelling == first), "{changed:?}");
            }
        }
    }
}

mod variants {
    use super::*;

    #[test]
    fn are_written_as_they_are_read() {
        for text in [
            "go1.26.5",
            "go1.26.5+nogreenteagc",
            "go1.27.1+GOAMD64=v3",
            "go1.27.1+GOGC=off",
            "go1.25.5+greenteagc+GOAMD64=v2+GOMEMLIMIT=1GiB",
            "tip",
            "tip+nogreenteagc",
        ] {
            assert_eq!(text.parse::<Variant>().unwrap().to_string(), text);
        }
        assert_eq!("1.26.5".parse::<Variant>().unwrap().to_string(), "go1.26.5");
    }

    #[test]
    fn a_misspelt_setting_is_answered_with_what_exists() {
        for (text, says) in [
            ("1.27.1+GOAMD64=v5", "GOAMD64=v5 does not exist"),
            ("1.27.1+GOAMD64=V3", "expected v1, v2, v3 or v4"),
            ("1.27.1+GOFLAGS=-race", "GOGC=…"),
            ("1.27.1+NoGreenTea", "no setting"),
            ("1.27.1+", "no setting"),
            ("1.27.1+GOGC=1+GOGC=2", "GOGC is set twice"),
            ("1.9.2rc2", "not a Go version"),
            ("latest", "cannot name a toolchain from disk"),
        ] {
            let message = text.parse::<Variant>().unwrap_err().to_string();
            assert!(message.contains(says), "{text}: {message}");
        }
    }

    #[test]
    fn settings_become_environment() {
        let variant: Variant = "1.27.1+nogreenteagc+simd+GOAMD64=v3+GOGC=50".parse().unwrap();
        assert_eq!(variant.experiments().as_deref(), Some("nogreenteagc,simd"));
        assert_eq!(variant.goamd64(), Some("v3"));
        assert_eq!(variant.runtime_variables().collect::<Vec<_>>(), [("GOGC", "50")]);
    }
}

mod selections {
    use super::*;

    fn resolve(text: &str) -> (Vec<String>, Vec<String>) {
        let wanted = text.parse::<Selection>().unwrap().resolve(&listing(REAL_LIST));
        let variants = wanted.variants.iter().map(Variant::to_string).collect();
        (variants, wanted.missing.into_iter().map(|(what, _)| what).collect())
    }

    #[test]
    fn a_minor_is_its_latest_patch_and_a_release_is_itself() {
        assert_eq!(resolve("1.21").0, ["go1.21.13"]);
        assert_eq!(resolve("go1.21.9").0, ["go1.21.9"]);
        assert_eq!(resolve("1.20.0").0, ["go1.20"]);
        assert_eq!(resolve("1.21.13,1.21").0, ["go1.21.13"]);
    }

    #[test]
    fn order_is_the_releases_whatever_was_typed() {
        assert_eq!(resolve("1.21, 1.9,latest,1.10").0, ["go1.9.7", "go1.10.8", "go1.21.13"]);
    }

    #[test]
    fn a_range_of_minors_names_its_gaps() {
        let (variants, missing) = resolve("1.8..1.10,1.20..1.22");
        assert_eq!(variants, ["go1.9.7", "go1.10.8", "go1.20", "go1.21.13"]);
        assert_eq!(missing, ["1.8", "1.22"]);
    }

    #[test]
    fn a_range_of_releases_is_every_stable_one_between() {
        assert_eq!(resolve("1.21.0..1.21.9").0, ["go1.21.0", "go1.21.9"]);
        assert_eq!(resolve("1.22.1..1.22.4"), (vec![], vec!["1.22.1..1.22.4".to_owned()]));
    }

    #[test]
    fn settings_go_with_every_release_of_a_term() {
        assert_eq!(resolve("1.9..1.10+GOGC=off").0, ["go1.9.7+GOGC=off", "go1.10.8+GOGC=off"]);
        assert_eq!(resolve("1.21,1.21+GOGC=off").0, ["go1.21.13", "go1.21.13+GOGC=off"]);
    }

    #[test]
    fn a_toolchain_from_disk_has_a_name_and_a_path() {
        let selection: Selection = "tip+GOGC=off=/opt/go+x,1.21".parse().unwrap();
        let wanted = selection.resolve(&listing(REAL_LIST));
        assert_eq!(wanted.variants[1].to_string(), "tip+GOGC=off");
        assert_eq!(selection.local(), [("tip", std::path::Path::new("/opt/go+x"))]);
    }

    #[test]
    fn newest_minors_are_the_latest_patches() {
        assert_eq!(resolve("newest-2").0, ["go1.20", "go1.21.13"]);
        assert_eq!(resolve("all").0, ["go1.9.7", "go1.10.8", "go1.20", "go1.21.13"]);
    }

    #[test]
    fn exact_releases_and_disk_need_no_list() {
        let needs = |text: &str| text.parse::<Selection>().unwrap().needs_listing();
        assert!(!needs("1.21.13,tip=/go"));
        assert!(needs("1.21.13,1.27"));
        assert!(needs("latest"));
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (text, says) in [
            ("", "no release is named"),
            (" , ", "no release is named"),
            ("1.21..1.22.3", "from a minor to a release"),
            ("1.22..1.21", "goes backwards"),
            ("1.22.3..1.22.1", "goes backwards"),
            ("1.2..2.4", "spans more than"),
            ("1.2..1.9999", "spans more than"),
            ("1.2..", "not a Go version"),
            ("1.2x", "not a Go version"),
            ("goo=/x,goo=/y", "names two toolchains"),
            ("1.21.1=/x", "cannot name a toolchain from disk"),
            // Found by the fuzz target `selection`: no variant reads back by this name.
            ("go1x=/x", "nothing like the name of a release"),
            ("tip", "not a Go version"),
        ] {
            match text.parse::<Selection>() {
                Err(error) => assert!(error.to_string().contains(says), "{error}"),
                Ok(_) => panic!("{text:?} was accepted"),
            }
        }
    }

    #[test]
    fn the_canonical_spelling_means_the_same() {
        for text in [
            "1.21",
            "1.20.0",
            "1.2..1.27",
            "1.20.0..1.20.3",
            "latest",
            "1.26.5+nogreenteagc",
            "tip+GOGC=off=/opt/go",
            "1.21,1.24,1.27",
        ] {
            let selection: Selection = text.parse().unwrap();
            assert_eq!(selection.to_string(), text);
            assert_eq!(selection.to_string().parse::<Selection>().unwrap(), selection);
        }
    }
}

#[test]
fn a_selection_is_doubled_without_and_with_patches() {
    let both = |go: &str| go.parse::<Selection>().unwrap().unpatched_and_patched().to_string();
    assert_eq!(both("latest"), "latest+unpatched,latest+patched");
    assert_eq!(
        both("1.27.1+patched+GOGC=50,tip=/goroot"),
        "1.27.1+GOGC=50+unpatched,1.27.1+GOGC=50+patched,tip+unpatched=/goroot,tip+patched=/goroot"
    );
    let patches = |text: &str| text.parse::<Variant>().unwrap().patches();
    assert_eq!(patches("go1.27.1+patched"), Some(Patches::All));
    assert_eq!(patches("go1.27.1+unpatched"), Some(Patches::None));
    assert_eq!(patches("go1.27.1+nogreenteagc"), None);
    let twice = "go1.27.1+patched+unpatched".parse::<Variant>().unwrap_err();
    insta::assert_snapshot!(twice, @"which patches are applied is set twice");
}
