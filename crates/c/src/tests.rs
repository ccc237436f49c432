//! A group of one member through C's eyes, and what is refused.

use super::*;
use std::ffi::CString;
use std::ptr::null_mut;

/// Settings of a group of one, without a key; the texts must outlive them.
fn settings(group: &CString, peers: &CString) -> bellwether_settings {
    bellwether_settings {
        group: group.as_ptr(),
        peers: peers.as_ptr(),
        key_file: std::ptr::null(),
        id: std::ptr::null(),
        listen: std::ptr::null(),
        dir: std::ptr::null(),
        insecure: 1,
    }
}

fn error() -> String {
    // SAFETY: the text is valid until the next call of this thread.
    unsafe { CStr::from_ptr(bellwether_error()) }.to_str().unwrap().to_owned()
}

/// A guard that leads, with its term. On a busy machine a reign may be over before it is asked.
///
/// # Safety
/// The member was not taken.
unsafe fn led(election: *const bellwether_election) -> (*mut bellwether_guard, u64) {
    let (mut guard, mut term) = (null_mut(), 0);
    for _ in 0..100 {
        // SAFETY: the caller promises it, and no guard is used after it was released.
        unsafe {
            assert_eq!(bellwether_wait(election, -1, &raw mut guard), 1, "{}", error());
            let leads = bellwether_still_leading(guard) == 1;
            let left = bellwether_remaining_ns(guard);
            assert!((0..60_000_000_000).contains(&left), "{left}");
            if leads && left > 0 && bellwether_term(guard, &raw mut term) == 1 {
                return (guard, term);
            }
            bellwether_release(guard);
        }
    }
    panic!("no reign lasts");
}

#[test]
fn a_group_of_one_leads_and_resigns_and_leaves() {
    let (group, peers) = (c"alone".to_owned(), c"1=127.77.13.1:7400".to_owned());
    let settings = settings(&group, &peers);
    // SAFETY: the settings and their texts live until the end, and no handle is used after it was
    // taken.
    unsafe {
        let election = bellwether_join(&raw const settings);
        assert!(!election.is_null(), "{}", error());
        let (guard, term) = led(election);
        assert!(term > 0);
        if bellwether_resign(guard) != 0 {
            assert!(error().contains("lead"), "the reign may be over before: {}", error());
        }
        let (guard, later) = led(election);
        assert!(later > term, "{later} after {term}");
        bellwether_release(guard);
        assert_eq!(bellwether_leave(election), 0);
    }
}

#[test]
fn who_may_not_lead_waits_in_vain_and_gets_no_guard() {
    let (group, peers) = (c"two".to_owned(), c"1=127.77.13.3:7401,2=127.77.13.3:7402".to_owned());
    let first = 1;
    let settings = bellwether_settings { id: &raw const first, ..settings(&group, &peers) };
    // SAFETY: the settings and their texts live until the end; the guard is never read.
    unsafe {
        let election = bellwether_join(&raw const settings);
        assert!(!election.is_null(), "{}", error());
        let mut guard = std::ptr::dangling_mut();
        assert_eq!(bellwether_wait(election, 10, &raw mut guard), 0);
        assert!(guard.is_null(), "one of two is no majority");
        assert_eq!(bellwether_leave(election), 0);
    }
}

#[test]
fn a_wait_without_an_end_ends_when_another_thread_stops_the_member() {
    /// A member that two threads use.
    struct Both(*const bellwether_election);
    // SAFETY: C may use a member in several threads at once.
    unsafe impl Send for Both {}

    let (group, peers) = (c"two".to_owned(), c"1=127.77.13.4:7401,2=127.77.13.4:7402".to_owned());
    let first = 1;
    let settings = bellwether_settings { id: &raw const first, ..settings(&group, &peers) };
    // SAFETY: the settings and their texts live until the end, and the member is taken when the
    // other thread has ended.
    unsafe {
        let election = bellwether_join(&raw const settings);
        assert!(!election.is_null(), "{}", error());
        let both = Both(election);
        let waiting = std::thread::spawn(move || {
            let both = both;
            let mut guard = null_mut();
            let found = bellwether_wait(both.0, -1, &raw mut guard);
            (found, guard.is_null(), error())
        });
        std::thread::sleep(Duration::from_millis(50));
        assert!(!waiting.is_finished(), "one of two is no majority");
        assert_eq!(bellwether_stop(election), 0, "{}", error());
        let (found, nothing, line) = waiting.join().unwrap();
        assert_eq!((found, nothing), (-1, true));
        assert!(line.contains("has left its group"), "{line}");
        let mut guard = null_mut();
        assert_eq!(bellwether_wait(election, -1, &raw mut guard), -1, "and every later one");
        assert_eq!(bellwether_leave(election), 0);
        assert_eq!(bellwether_stop(null_mut()), -1);
    }
}

#[test]
fn what_is_refused_is_said_in_a_line() {
    let (group, peers) = (c"alone".to_owned(), c"1=127.77.13.2:7400".to_owned());
    let good = settings(&group, &peers);
    let without_key = bellwether_settings { insecure: 0, ..good };
    let bad = c"1=nowhere".to_owned();
    let bad_peers = bellwether_settings { peers: bad.as_ptr(), ..good };
    let unnamed = bellwether_settings { group: std::ptr::null(), ..good };
    let other = 7;
    let unknown = bellwether_settings { id: &raw const other, ..good };
    for (settings, said) in [
        (without_key, "key_file"),
        (bad_peers, "peers: "),
        (unnamed, "group is NULL"),
        (unknown, "7"),
    ] {
        // SAFETY: the settings and their texts live until the end.
        let election = unsafe { bellwether_join(&raw const settings) };
        assert!(election.is_null() && error().contains(said), "{}", error());
        assert_eq!(error().lines().count(), 1);
    }
}

#[test]
fn null_is_refused_and_leads_to_nothing() {
    // SAFETY: NULL is checked.
    unsafe {
        assert!(bellwether_join(std::ptr::null()).is_null());
        assert_eq!(bellwether_wait(null_mut(), 0, &mut null_mut()), -1);
        assert!(error().contains("the election is NULL"));
        assert_eq!(bellwether_still_leading(null_mut()), 0);
        assert_eq!(bellwether_remaining_ns(null_mut()), 0);
        assert_eq!(bellwether_term(null_mut(), &mut 0), -1);
        assert_eq!(bellwether_resign(null_mut()), -1);
        bellwether_release(null_mut());
        assert_eq!(bellwether_leave(null_mut()), 0);
    }
    assert_eq!(border(-1, || panic!("no panic crosses")), -1);
    assert!(error().contains("panicked"), "{}", error());
}
