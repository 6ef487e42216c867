//! Servers that are busy, slow or silent, and users who do not want to wait.

use std::time::Instant;

use super::*;

/// No patience at all; silence is the subject.
const IMPATIENT: RetryPolicy =
    RetryPolicy { attempts: 2, idle_timeout: Duration::from_millis(300), ..QUICK };
/// Longer than any test may take: what has to end before it, ends for another reason.
const FOREVER: Duration = Duration::from_secs(3600);

#[test]
fn a_server_that_never_answers_is_given_up() {
    let world = World::of(b"content");
    world.server.fault(ZIP, Fault::Silence);
    let error = world.obtain_for(IMPATIENT, &Waiter::default()).unwrap_err();
    assert!(error.to_string().contains(": no answer within 300ms; try again later"), "{error}");
    assert_eq!(world.ranges().len(), 2);
    let error = proxies(&world.server.url(), IMPATIENT).read(ZIP, 10).unwrap_err();
    assert!(error.to_string().contains(": no answer within 300ms"), "{error}");
}

#[test]
fn a_server_that_falls_silent_is_asked_for_the_rest() {
    let content = bytes(1, 100_000);
    let world = World::of(&content);
    world.server.faults(ZIP, vec![Fault::Stall(60_000), Fault::BreakOff(usize::MAX)]);
    assert_eq!(world.obtain_for(IMPATIENT, &Waiter::default()).unwrap().content, content);
    assert_eq!(world.ranges(), ["", "bytes=60000-"]);

    world.keep().discard().unwrap();
    world.server.fault(ZIP, Fault::Stall(60_000));
    let once = RetryPolicy { attempts: 1, ..IMPATIENT };
    let error = world.obtain_for(once, &Waiter::default()).unwrap_err();
    let expected = "broke off after 60000 of 100000 bytes: nothing came for 300ms";
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn a_connection_that_cannot_be_made_is_given_up() {
    // A listener whose queue is full: the system answers no further attempt to connect.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let full: Vec<_> = (0..4096)
        .map_while(|_| {
            std::net::TcpStream::connect_timeout(&address, Duration::from_millis(200)).ok()
        })
        .collect();
    assert!(full.len() < 4096, "the queue is never full");
    let policy = RetryPolicy { attempts: 1, connect_timeout: Duration::from_millis(300), ..QUICK };
    let error = proxies(&format!("http://{address}"), policy).read(ZIP, 10).unwrap_err();
    assert!(error.to_string().contains(": no connection within 300ms"), "{error}");
}

#[test]
fn a_body_that_drips_is_given_up() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let dripping = std::thread::spawn(move || {
        use std::io::Write;
        let (mut stream, _) = listener.accept().unwrap();
        server::Request::read(&stream).unwrap();
        stream.write_all(b"HTTP/1.1 200 X\r\nContent-Length: 100000\r\n\r\n").unwrap();
        let drip = |_: &usize| stream.write_all(b"x").is_ok();
        (0..).inspect(|_| std::thread::sleep(Duration::from_millis(20))).take_while(drip).count()
    });
    let policy = RetryPolicy { attempts: 1, ..IMPATIENT };
    let error = proxies(&format!("http://{address}"), policy).read(ZIP, 100_000).unwrap_err();
    assert!(error.to_string().contains("fewer than 16384 bytes came in 300ms"), "{error}");
    assert!(dripping.join().unwrap() > 1);
}

#[test]
fn a_busy_server_is_asked_again_when_it_says() {
    let content = bytes(1, 1000);
    let date = "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT";
    for (status, headers) in [
        (429, &["Retry-After: 0"] as &'static [&'static str]),
        (503, vec![date].leak()),
        (500, &[]),
        (502, &[]),
        (504, &["Retry-After: soon"]),
    ] {
        let world = World::of(&content);
        let busy = Fault::Status(status, headers);
        world.server.faults(ZIP, vec![busy.clone(), busy, Fault::BreakOff(usize::MAX)]);
        assert_eq!(world.obtain().unwrap().content, content);
        assert_eq!(world.ranges().len(), 3, "{status}");
    }
    // Where it says nothing, the wait is our own; where it says something, its own, up to a point.
    let world = World::of(&content);
    let policy = RetryPolicy { first_wait: FOREVER, longest_wait: FOREVER, ..QUICK };
    let busy = Fault::Status(429, &["Retry-After: 0"]);
    world.server.faults(ZIP, vec![busy, Fault::BreakOff(usize::MAX)]);
    world.obtain_for(policy, &Waiter::default()).unwrap();
    let world = World::of(&content);
    let busy = Fault::Status(429, &["Retry-After: 86400"]);
    world.server.faults(ZIP, vec![busy, Fault::BreakOff(usize::MAX)]);
    world.obtain_for(QUICK, &Waiter::default()).unwrap();
}

#[test]
fn what_does_not_pass_is_not_asked_for_again() {
    for status in [400, 401, 403, 404, 407, 410, 418, 451, 501, 304, 204] {
        let world = World::of(b"content");
        world.server.fault(ZIP, Fault::Status(status, &["Retry-After: 0"]));
        let error = world.obtain().unwrap_err();
        let is_not_found = matches!(status, 404 | 410);
        assert_eq!(error.is_not_found(), is_not_found, "{error}");
        assert_eq!(matches!(error, FetchError::Refused { .. }), !is_not_found, "{error}");
        assert_eq!(world.ranges().len(), 1, "{status}");
    }
}

/// Runs `obtain` in a thread of its own, stops it once it waits, and returns how it ended.
fn stopped_while(world: &World, policy: RetryPolicy, waits: impl Fn() -> bool) -> FetchError {
    let waiter = Waiter::default();
    std::thread::scope(|scope| {
        let download = scope.spawn(|| world.obtain_for(policy, &waiter).unwrap_err());
        while !waits() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let asked = Instant::now();
        waiter.stop();
        let error = download.join().unwrap();
        log::info!("ended after {:?}", asked.elapsed());
        error
    })
}

#[test]
fn whoever_asks_to_stop_is_not_kept_waiting() {
    let patient = RetryPolicy {
        attempts: 3,
        first_wait: FOREVER,
        longest_wait: FOREVER,
        connect_timeout: FOREVER,
        idle_timeout: FOREVER,
    };
    for fault in [Fault::Silence, Fault::Stall(600), Fault::Status(503, &[])] {
        let content = bytes(1, 1000);
        let world = World::of(&content);
        world.server.fault(ZIP, fault.clone());
        let expected = if matches!(fault, Fault::Stall(_)) { 600 } else { 0 };
        let error = stopped_while(&world, patient, || {
            world.server.requests() == 1 && world.kept().len() == expected
        });
        assert!(matches!(error, FetchError::Stopped { .. }), "{fault:?}: {error}");
        assert_eq!(world.kept(), content[..expected]);
    }
}

#[test]
fn what_came_before_the_stop_is_kept_and_no_other_proxy_is_asked() {
    let content = bytes(1, 5_000_000);
    let (world, other) = (World::of(&content), World::of(&content));
    let list = proxies(&format!("{}|{}", world.server.url(), other.server.url()), QUICK);
    let waiter = Waiter::stopping_at(1_000_000);
    let error = obtain(&list, &world.keep(), &waiter).unwrap_err();
    assert!(matches!(error, FetchError::Stopped { .. }), "{error}");
    let kept = world.kept();
    assert!((1_000_000..5_000_000).contains(&kept.len()), "{}", kept.len());
    assert_eq!(kept, content[..kept.len()]);
    assert_eq!(other.ranges(), [""; 0]);

    let error = world.obtain_for(QUICK, &waiter).unwrap_err();
    assert!(matches!(error, FetchError::Stopped { .. }), "{error}");
    assert_eq!(world.ranges(), [""], "stopped before it begins");
    let got = world.obtain().unwrap();
    assert_eq!((got.content, got.was_kept), (content, true));
}

#[test]
fn many_downloads_share_one_list() {
    let folder = tempfile::tempdir().unwrap();
    let content = |number: u64| bytes(number, 2_000_000);
    for number in 0..8 {
        put(&folder.path().join("www"), &format!("{number}"), &content(number));
    }
    let server = Server::start(&folder.path().join("www"));
    server.tag(Tags::Strong);
    server.drop_after(Some(1_500_000));
    let list = proxies(&server.url(), QUICK);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (list, folder) = (&list, folder.path());
            scope.spawn(move || {
                let keep = Kept::at(folder.join(format!("kept{number}")));
                let path = number.to_string();
                let served = list.obtain(&path, LIMIT, &keep, &Waiter::default()).unwrap();
                let mut got = Vec::new();
                { served.value.file }.read_to_end(&mut got).unwrap();
                assert!(got == content(number), "download {number}");
            });
        }
    });
}
