//! Going on with what an earlier attempt, or an earlier process, left.

use super::*;

#[test]
fn a_broken_transfer_is_gone_on_with_where_it_broke_off() {
    let content = bytes(1, 100_000);
    let world = World::of(&content);
    world.server.faults(ZIP, vec![Fault::BreakOff(30_000), Fault::BreakOff(30_000), FINE]);
    let waiter = Waiter::default();
    let got = world.obtain_for(QUICK, &waiter).unwrap();
    assert_eq!(got.content, content);
    assert!(!got.was_kept, "nothing was left by another call");
    assert_eq!(world.ranges(), ["", "bytes=30000-", "bytes=60000-"]);
    assert_eq!(waiter.begins(), [(Some(100_000), 0)], "told once");
    assert_eq!(waiter.received.lock().unwrap().last(), Some(&100_000));
}

/// A fault that is none: it ends a list of them.
const FINE: Fault = Fault::BreakOff(usize::MAX);

#[test]
fn the_next_process_goes_on_with_what_the_last_one_left() {
    let content = bytes(1, 100_000);
    let world = World::of(&content);
    world.server.fault(ZIP, Fault::BreakOff(40_000));
    let once = RetryPolicy { attempts: 1, ..QUICK };
    world.obtain_for(once, &Waiter::default()).unwrap_err();
    assert_eq!(world.kept(), content[..40_000]);
    assert_eq!(world.left(), ["kept", "kept.toml"]);

    world.server.heal();
    let waiter = Waiter::default();
    let got = world.obtain_for(once, &waiter).unwrap();
    assert_eq!((got.content, got.was_kept), (content.clone(), true));
    assert_eq!(waiter.begins(), [(Some(100_000), 40_000)]);
    assert_eq!(world.ranges(), ["", "bytes=40000-"]);
    let tags: Vec<_> = world.server.take_heads();
    assert!(tags.is_empty());

    // Whole, it is not asked for again.
    let waiter = Waiter::default();
    let got = world.obtain_for(once, &waiter).unwrap();
    assert_eq!((got.content, got.was_kept), (content, true));
    assert_eq!(waiter.begins(), [(Some(100_000), 100_000)]);
    assert_eq!(world.ranges(), [""; 0]);

    world.keep().discard().unwrap();
    assert_eq!(world.left(), [""; 0]);
    world.keep().discard().unwrap();
}

#[test]
fn the_rest_is_asked_for_by_a_strong_tag() {
    let world = World::of(&bytes(1, 1000));
    world.server.faults(ZIP, vec![Fault::BreakOff(400), FINE]);
    world.obtain().unwrap();
    let requests = world.server.take_heads();
    let tag = requests[1].header("if-range").unwrap();
    assert!(tag.starts_with('"'), "{tag}");
    let note = fs_err::read_to_string(world.folder.path().join("kept.toml")).unwrap();
    let expected =
        format!("url = \"{}/{ZIP}\"\netag = '{tag}'\nbytes = 1000\n", world.server.url());
    assert_eq!(note, expected);
}

#[test]
fn without_a_strong_tag_a_broken_transfer_starts_over() {
    for tags in [Tags::None, Tags::Weak] {
        let content = bytes(1, 1000);
        let world = World::of(&content);
        world.server.tag(tags);
        world.server.faults(ZIP, vec![Fault::BreakOff(400), FINE]);
        let waiter = Waiter::default();
        assert_eq!(world.obtain_for(QUICK, &waiter).unwrap().content, content);
        assert_eq!(world.ranges(), ["", ""], "{tags:?}");
        assert!(waiter.received.lock().unwrap().is_sorted_by(|a, b| a <= b || *b == 0));
    }
}

#[test]
fn malformed_tags_are_not_used() {
    for tag in ["abc", "\"abc", "W/\"abc\"", "\"a\"b\"", "\"", "\"a\tb\""] {
        let content = bytes(1, 1000);
        let world = World::of(&content);
        let fault = Fault::Tag(tag);
        world.server.fault(ZIP, fault.clone());
        world.server.drop_after(Some(400));
        world.obtain_for(RetryPolicy { attempts: 2, ..QUICK }, &Waiter::default()).unwrap_err();
        assert_eq!(world.ranges(), ["", ""], "{tag:?}");
    }
}

#[test]
fn another_version_is_never_added_to_the_first() {
    let (old, new) = (bytes(1, 1000), bytes(2, 1200));
    let world = World::of(&old);
    world.server.fault(ZIP, Fault::BreakOff(400));
    world.obtain_for(RetryPolicy { attempts: 1, ..QUICK }, &Waiter::default()).unwrap_err();
    world.serve(&new);
    world.server.heal();
    // The server sees that the tag is another's, and sends all of the new one.
    let waiter = Waiter::default();
    let got = world.obtain_for(QUICK, &waiter).unwrap();
    assert_eq!((got.content, got.was_kept), (new, false));
    assert_eq!(world.ranges(), ["", "bytes=400-"]);
    assert_eq!(waiter.begins(), [(Some(1200), 0)]);
}

#[test]
fn another_size_is_told_again() {
    let (old, new) = (bytes(1, 1000), bytes(2, 1200));
    let world = World::of(&old);
    let parts = vec![Fault::BreakOff(400), Fault::Replace(new.clone())];
    world.server.faults(ZIP, parts);
    let waiter = Waiter::default();
    assert_eq!(world.obtain_for(QUICK, &waiter).unwrap().content, new);
    assert_eq!(waiter.begins(), [(Some(1000), 0), (Some(1200), 0)]);
}

#[test]
fn a_part_that_is_not_the_rest_is_not_added() {
    for range in [
        "bytes 399-999/1000",
        "bytes 401-999/1000",
        "bytes 400-998/1000",
        "bytes 400-999/1001",
        "bytes 400-1000/1001",
        "bytes 400-999/*",
        "bytes */1000",
        "bytes 999-400/1000",
        "bytes 400-18446744073709551615/1000",
        "bytes +400-999/1000",
        "items 400-999/1000",
        "400-999/1000",
        "",
    ] {
        let content = bytes(1, 1000);
        let world = World::of(&content);
        let lie = Fault::ContentRange(range.to_owned());
        world.server.faults(ZIP, vec![Fault::BreakOff(400), lie, FINE]);
        assert_eq!(world.obtain().unwrap().content, content, "{range}");
        assert_eq!(world.ranges(), ["", "bytes=400-", ""], "{range}");
    }
}

#[test]
fn a_part_of_something_of_another_size_is_not_added() {
    let content = bytes(1, 1000);
    let world = World::of(&content);
    world.server.fault(ZIP, Fault::BreakOff(400));
    world.obtain_for(RetryPolicy { attempts: 1, ..QUICK }, &Waiter::default()).unwrap_err();
    let note = world.folder.path().join("kept.toml");
    let other = fs_err::read_to_string(&note).unwrap().replace("1000", "1001");
    fs_err::write(note, other).unwrap();
    world.server.heal();
    let got = world.obtain().unwrap();
    assert_eq!((got.content, got.was_kept), (content, false));
    assert_eq!(world.ranges(), ["", "bytes=400-", ""]);
}

#[test]
fn a_part_of_another_tag_is_not_added() {
    let content = bytes(1, 1000);
    let world = World::of(&content);
    let faults = vec![Fault::BreakOff(400), Fault::Tag("\"other\""), FINE];
    world.server.faults(ZIP, faults);
    assert_eq!(world.obtain().unwrap().content, content);
    assert_eq!(world.ranges(), ["", "bytes=400-", ""]);
}

#[test]
fn a_range_that_cannot_be_had_starts_over_once() {
    let content = bytes(1, 1000);
    let world = World::of(&content);
    let refusal = Fault::Status(416, &["Content-Range: bytes */1000"]);
    world.server.faults(ZIP, vec![Fault::BreakOff(400), refusal.clone(), FINE]);
    assert_eq!(world.obtain().unwrap().content, content);
    assert_eq!(world.ranges(), ["", "bytes=400-", ""]);

    world.keep().discard().unwrap();
    world.server.faults(ZIP, vec![Fault::BreakOff(400), refusal]);
    let error = world.obtain().unwrap_err();
    assert!(matches!(error, FetchError::Refused { status: 416, .. }), "{error}");
    assert_eq!(world.ranges(), ["", "bytes=400-", ""]);
}

#[test]
fn a_partial_answer_nobody_asked_for_is_refused() {
    let world = World::of(&bytes(1, 1000));
    world.server.fault(ZIP, Fault::Status(206, &["Content-Range: bytes 0-999/1000"]));
    let error = world.obtain().unwrap_err();
    assert!(matches!(error, FetchError::Refused { status: 206, .. }), "{error}");
}

#[test]
fn bytes_are_only_used_for_the_address_they_came_from() {
    let (ours, theirs) = (bytes(1, 1000), bytes(2, 1000));
    let (world, other) = (World::of(&ours), World::of(&theirs));
    world.server.faults(ZIP, vec![Fault::BreakOff(400), Fault::Status(503, &[])]);
    let goproxy = format!("{}|{}", world.server.url(), other.server.url());
    let list = proxies(&goproxy, QUICK);
    let waiter = Waiter::default();
    let got = obtain(&list, &world.keep(), &waiter).unwrap();
    assert_eq!((got.content, got.was_kept), (theirs, false));
    assert_eq!(got.url, format!("{}/{ZIP}", other.server.url()));
    assert_eq!(other.ranges(), [""]);
    assert_eq!(waiter.begins(), [(Some(1000), 0), (Some(1000), 0)]);
}

#[test]
fn bytes_outlive_a_proxy_that_cannot_replace_them() {
    let content = bytes(1, 1000);
    let world = World::of(&content);
    let folder = tempfile::tempdir().unwrap();
    let other = Server::start(folder.path());
    world.server.faults(ZIP, vec![Fault::BreakOff(400), Fault::Status(503, &[])]);
    let list = proxies(&format!("{}|{}", world.server.url(), other.url()), QUICK);
    obtain(&list, &world.keep(), &Waiter::default()).unwrap_err();
    assert_eq!(other.take_requests(), [ZIP]);
    world.server.heal();
    let got = obtain(&list, &world.keep(), &Waiter::default()).unwrap();
    assert_eq!((got.content, got.was_kept), (content, true));
}

#[test]
fn bytes_without_a_note_that_fits_are_worth_nothing() {
    let content = bytes(1, 1000);
    let url = |world: &World| format!("{}/{ZIP}", world.server.url());
    let notes = [
        "",
        "\0\u{1}garbage",
        "url = \"URL\"\netag = '\"x\"'\nbytes = 3\n",
        "url = \"URLx\"\nbytes = 4\n",
        "url = \"URL\"\nbytes = -4\n",
        "url = \"URL\"\nother = 4\nbytes = 4\n",
    ];
    for note in [None].into_iter().chain(notes.map(Some)) {
        let world = World::of(&content);
        fs_err::write(world.kept_path(), b"evil").unwrap();
        if let Some(note) = note {
            let note = note.replace("URL", &url(&world));
            fs_err::write(world.folder.path().join("kept.toml"), note).unwrap();
        }
        let got = world.obtain().unwrap();
        assert_eq!((got.content, got.was_kept), (content.clone(), false), "{note:?}");
        assert_eq!(world.ranges(), [""], "{note:?}");
    }
}

#[test]
fn more_than_the_limit_is_refused_and_thrown_away() {
    let content = bytes(1, 1000);
    let world = World::of(&content);
    let ask = |limit| {
        let list = proxies(&world.server.url(), QUICK);
        list.obtain(ZIP, limit, &world.keep(), &Waiter::default()).map(|served| served.value.bytes)
    };
    let refused = |limit| matches!(ask(limit), Err(FetchError::TooLarge { .. }));
    // By what the server says of the size, by what it sends, and by what it says of the rest.
    assert!(refused(999));
    assert_eq!(world.left(), [""; 0]);
    world.server.fault(ZIP, Fault::Chunked);
    assert!(refused(999));
    assert_eq!(world.left(), [""; 0]);
    world.server.faults(ZIP, vec![Fault::BreakOff(400), Fault::Status(503, &[])]);
    ask(1000).unwrap_err();
    assert_eq!(world.left(), ["kept", "kept.toml"]);
    world.server.heal();
    assert!(refused(999));
    assert_eq!(world.left(), [""; 0]);
    assert_eq!(ask(1000).unwrap(), 1000);
    assert!(refused(999), "a whole one that is at hand");
    assert_eq!(world.left(), [""; 0]);
}

#[test]
fn a_chunked_body_that_is_cut_off_is_gone_on_with() {
    let content = bytes(1, 10_000);
    let world = World::of(&content);
    world.server.faults(ZIP, vec![Fault::ChunkedBreakOff(4500), FINE]);
    let waiter = Waiter::default();
    assert_eq!(world.obtain_for(QUICK, &waiter).unwrap().content, content);
    let ranges = world.ranges();
    assert!(ranges.len() == 2 && ranges[1].starts_with("bytes=4"), "{ranges:?}");
    assert_eq!(waiter.begins().first(), Some(&(None, 0)));
    assert_eq!(waiter.begins()[1].0, Some(10_000), "the size is known by then");

    world.keep().discard().unwrap();
    world.server.fault(ZIP, Fault::Chunked);
    assert_eq!(world.obtain().unwrap().content, content);
    world.ranges();
    assert!(world.obtain().unwrap().was_kept, "what ended well is whole");
    assert_eq!(world.ranges(), [""; 0]);
}

#[test]
fn a_server_that_drops_every_connection_serves_all_the_same() {
    const MIB: usize = 1024 * 1024;
    let content = bytes(1, 11 * MIB);
    let world = World::of(&content);
    world.server.drop_after(Some(MIB + 1));
    let waiter = Waiter::default();
    assert_eq!(world.obtain_for(QUICK, &waiter).unwrap().content, content);
    assert_eq!(world.ranges().len(), 11);
    assert_eq!(waiter.begins(), [(Some(11 * MIB as u64), 0)]);
}

#[test]
fn drips_do_not_hold_us_for_ever() {
    let world = World::of(&bytes(1, 5_000_000));
    // Each time less than a MiB more than before: each counts as an attempt.
    world.server.drop_after(Some(1_000_000));
    let error = world.obtain().unwrap_err();
    assert!(matches!(error, FetchError::Unavailable { .. }), "{error}");
    assert_eq!(world.ranges(), ["", "bytes=1000000-", "bytes=2000000-"]);
    // What came is not lost.
    assert_eq!(world.kept().len(), 3_000_000);
}

#[test]
fn a_server_that_always_has_something_else_is_given_up() {
    const MIB: usize = 1024 * 1024;
    let world = World::of(&[]);
    // Each time a MiB and more beyond what ever was at hand, then bytes of another version.
    let faults = (1..10).flat_map(|round: usize| {
        let sizes = [Fault::BreakOff(2 * MIB * round), Fault::Status(416, &[])];
        sizes.into_iter()
    });
    world.server.faults(ZIP, faults.collect());
    world.serve(&bytes(1, 10 * MIB));
    let error = world.obtain().unwrap_err();
    assert!(error.to_string().contains("began anew 3 times"), "{error}");
}

#[test]
fn an_answer_that_means_trouble_leaves_what_is_kept() {
    let content = bytes(1, 1000);
    for (fault, fits) in [
        (Fault::Status(404, &[]), "not found"),
        (Fault::Status(403, &[]), "refused with status 403"),
        (Fault::Status(503, &["Retry-After: 0"]), "503 Service Unavailable"),
        (Fault::Status(302, &[]), "a redirect to nowhere"),
    ] {
        let world = World::of(&content);
        world.server.fault(ZIP, Fault::BreakOff(400));
        world.obtain_for(RetryPolicy { attempts: 1, ..QUICK }, &Waiter::default()).unwrap_err();
        world.server.fault(ZIP, fault);
        let error = world.obtain().unwrap_err().to_string();
        assert!(error.contains(fits), "{error}");
        assert_eq!(world.kept(), content[..400]);
        world.server.heal();
        assert!(world.obtain().unwrap().was_kept);
    }
}

#[test]
fn no_room_on_the_disk_ends_the_download_before_it_begins() {
    let world = World::of(&bytes(1, 1000));
    let waiter = Waiter { has_no_room: true, ..Waiter::default() };
    let error = world.obtain_for(QUICK, &waiter).unwrap_err();
    assert!(matches!(error, FetchError::Write { .. }), "{error}");
    assert_eq!(world.kept(), b"");
    assert_eq!(world.ranges().len(), 1);
}

#[test]
fn a_place_that_cannot_be_written_is_trouble_on_this_machine() {
    let world = World::of(&bytes(1, 1000));
    let keep = Kept::at(world.folder.path().join("no/such/folder"));
    let list = proxies(&format!("{0}|{0}", world.server.url()), QUICK);
    let error = obtain(&list, &keep, &Waiter::default()).unwrap_err();
    assert!(matches!(error, FetchError::Write { .. }), "{error}");
    assert_eq!(world.ranges(), [""; 0]);
}

/// Serves `content` with the tag `"t"`: 400 bytes of it at first, and then, in chunks that end as
/// they should, as many bytes of the rest as are asked of each answer in turn.
fn serve_parts(content: &[u8], parts: &[usize]) -> forwarding::Listener {
    use std::io::Write;
    let content = content.to_vec();
    let parts = Mutex::new(std::collections::VecDeque::from(parts.to_vec()));
    forwarding::Listener::start(move |mut stream| {
        let request = server::Request::read(&stream)?.unwrap();
        let Some(range) = request.header("range") else {
            let sent = parts.lock().unwrap().pop_front().unwrap();
            let length = content.len();
            write!(stream, "HTTP/1.1 200 X\r\nETag: \"t\"\r\nContent-Length: {length}\r\n\r\n")?;
            return stream.write_all(&content[..sent]);
        };
        let first: usize = range.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap();
        let (last, total) = (content.len() - 1, content.len());
        let sent = parts.lock().unwrap().pop_front().unwrap();
        let rest: Vec<u8> = content[first..].iter().copied().cycle().take(sent).collect();
        write!(
            stream,
            "HTTP/1.1 206 X\r\nETag: \"t\"\r\nContent-Range: bytes {first}-{last}/{total}\r\n\
             Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n{sent:x}\r\n"
        )?;
        stream.write_all(&rest)?;
        stream.write_all(b"\r\n0\r\n\r\n")
    })
}

#[test]
fn a_rest_that_ends_early_or_late_is_not_taken_for_the_rest() {
    let content = bytes(1, 1000);
    for parts in [[400, 500, 100], [400, 700, 1000]] {
        let server = serve_parts(&content, &parts);
        let folder = tempfile::tempdir().unwrap();
        let list = proxies(&format!("http://{}", server.address), QUICK);
        let keep = Kept::at(folder.path().join("kept"));
        let got = obtain(&list, &keep, &Waiter::default()).unwrap();
        assert!(got.content == content, "{parts:?}");
    }
}
