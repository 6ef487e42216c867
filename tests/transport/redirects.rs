//! Redirects: where they lead, what they carry, and where they end.

use super::*;

/// A server of nothing that sends every request for the download on to `target`.
fn redirecting_to(target: &str) -> World {
    let world = World::of(b"not this");
    world.server.fault(ZIP, Fault::Redirect(target.to_owned()));
    world
}

#[test]
fn the_rest_is_asked_for_at_the_address_first_asked() {
    let content = bytes(1, 1000);
    let (old, new) = (World::of(&content), World::of(&content));
    old.server.fault(ZIP, Fault::BreakOff(400));
    let world = redirecting_to("");
    let to = |other: &World| Fault::Redirect(format!("{}/{ZIP}", other.server.url()));
    // The first address does not hold for long: the next time, the way leads elsewhere.
    world.server.faults(ZIP, vec![to(&old), to(&new)]);
    assert_eq!(world.obtain().unwrap().content, content);
    assert_eq!(world.ranges(), ["", "bytes=400-"]);
    assert_eq!(old.ranges(), [""]);
    assert_eq!(new.ranges(), ["bytes=400-"]);
    let note = fs_err::read_to_string(world.folder.path().join("kept.toml")).unwrap();
    assert!(note.contains(&world.server.url()), "{note}");
}

#[test]
fn relative_addresses_lead_on() {
    let world = World::of(b"content");
    world.server.fault("a/b", Fault::Redirect("../m/@v/v1.zip".to_owned()));
    let list = proxies(&world.server.url(), QUICK);
    assert_eq!(list.read("a/b", 10).unwrap().value, b"content");
}

#[test]
fn ten_redirects_are_followed_and_loops_end() {
    let world = World::of(b"content");
    for number in 0..12 {
        let next = if number == 11 { ZIP.to_owned() } else { format!("r/{}", number + 1) };
        world.server.fault(&format!("r/{number}"), Fault::Redirect(format!("/{next}")));
    }
    let list = proxies(&world.server.url(), QUICK);
    assert_eq!(list.read("r/2", 10).unwrap().value, b"content", "ten");
    let error = list.read("r/1", 10).unwrap_err();
    assert!(error.to_string().contains("more than 10 redirects"), "{error}");
    world.ranges();

    world.server.fault("r/5", Fault::Redirect("/r/4".to_owned()));
    let error = list.read("r/4", 10).unwrap_err();
    assert!(error.to_string().contains("more than 10 redirects"), "{error}");
    assert_eq!(world.ranges().len(), 11, "a loop is not gone round again");
}

#[test]
fn only_http_leads_on() {
    for target in ["file:///etc/passwd", "ftp://localhost/x", "javascript:x", "http://", "//"] {
        let error = redirecting_to(target).obtain().unwrap_err();
        let FetchError::Unavailable { reason, .. } = error else { panic!("{error}") };
        assert!(reason.starts_with("a redirect to nowhere") || reason.contains(target), "{reason}");
    }
}

#[test]
fn a_redirect_that_is_refused_shows_no_password() {
    let error = redirecting_to("ftp://user:secret@localhost/x").obtain().unwrap_err().to_string();
    assert!(error.contains("redirect from http to ftp://user:xxxxx@localhost/x"), "{error}");
}

#[test]
fn credentials_stay_where_they_were_meant_to_go() {
    use gosurvey::proxy::{HttpClient, HttpSource, Source};
    let (first, other) = (World::of(b"first"), World::of(b"other"));
    let base = first.server.url().replace("http://", "http://user:secret@");
    let client = std::sync::Arc::new(HttpClient::new(QUICK));
    let source = HttpSource::new(base.parse().unwrap(), client);
    let credentials = |world: &World| {
        let requests = world.server.take_heads();
        requests.iter().map(|r| r.header("authorization").is_some()).collect::<Vec<_>>()
    };
    // On the same server they go along, however it names itself.
    first.server.fault("here", Fault::Redirect(format!("/{ZIP}")));
    assert_eq!(source.read("here", 10).unwrap(), b"first");
    first.server.fault("here", Fault::Redirect(format!("{}/{ZIP}", first.server.url())));
    assert_eq!(source.read("here", 10).unwrap(), b"first");
    assert_eq!(credentials(&first), [true; 4]);
    // To another they do not, not even back from it; and nobody may give us other ones.
    let to_other = format!("{}/back", other.server.url()).replace("http://", "http://a:b@");
    first.server.fault("away", Fault::Redirect(to_other));
    other.server.fault("back", Fault::Redirect(format!("{}/{ZIP}", first.server.url())));
    assert_eq!(source.read("away", 10).unwrap(), b"first");
    assert_eq!(credentials(&other), [false]);
    assert_eq!(credentials(&first), [true, false]);
    // What is kept says where it is from, but not with what credentials.
    first.server.fault(ZIP, Fault::BreakOff(2));
    source.obtain(ZIP, 10, &first.keep(), &Waiter::default()).unwrap();
    let note = fs_err::read_to_string(first.folder.path().join("kept.toml")).unwrap();
    assert!(note.contains(&format!("\"{}/{ZIP}\"", first.server.url())), "{note}");
}
