//! Whatever a server does, what is obtained is one version, whole, or nothing.

use proptest::prelude::*;

use super::*;

/// What a server does with one request.
#[derive(Clone, Debug)]
struct Turn {
    version: u64,
    is_chunked: bool,
    /// How much of the answer it sends.
    sent: usize,
}

fn turn() -> impl Strategy<Value = Turn> {
    let sent = prop_oneof![0..3000_usize, Just(usize::MAX)];
    (0..3_u64, any::<bool>(), sent).prop_map(|(version, is_chunked, sent)| Turn {
        version,
        is_chunked,
        sent,
    })
}

fn tags() -> impl Strategy<Value = Tags> {
    proptest::sample::select(vec![Tags::None, Tags::Weak, Tags::Strong, Tags::Careless])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Each inner list is one call's: turns of the server until it is out of order for good.
    #[test]
    fn versions_never_mix(
        sizes in [1..2500_usize, 1..2500_usize, 1..2500_usize],
        tags in tags(),
        calls in prop::collection::vec(prop::collection::vec(turn(), 0..4), 1..4),
        last in turn(),
    ) {
        let versions: Vec<Vec<u8>> = (0..3).map(|v| bytes(v, sizes[v as usize])).collect();
        let world = World::of(b"");
        world.server.tag(tags);
        let fault = |turn: Turn| Fault::Version {
            content: versions[turn.version as usize].clone(),
            is_chunked: turn.is_chunked,
            sent: turn.sent,
        };
        let list = proxies(&world.server.url(), RetryPolicy { attempts: 6, ..QUICK });
        let obtain = || obtain(&list, &world.keep(), &Waiter::default());
        for turns in calls {
            let mut faults: Vec<Fault> = turns.into_iter().map(fault).collect();
            faults.push(Fault::Status(403, &[]));
            world.server.faults(ZIP, faults);
            match obtain() {
                Ok(got) => prop_assert!(versions.contains(&got.content)),
                Err(_) => {
                    let kept = world.kept();
                    prop_assert!(versions.iter().any(|version| version.starts_with(&kept)));
                }
            }
        }
        // In the end the server is in order, and its version is the one that comes, unless another
        // is at hand whole.
        let expected = versions[last.version as usize].clone();
        let was_whole = versions.contains(&world.kept());
        world.server.fault(ZIP, fault(Turn { sent: usize::MAX, ..last }));
        let got = obtain().unwrap();
        prop_assert!(got.content == expected || was_whole && versions.contains(&got.content));
    }
}
