//! Addresses that cannot be set are refused when the member starts, in one line.

use crate::lab::Folder;
use crate::lab::group::{free_places, listed};
use crate::lab::member::BELLWETHER;
use crate::lab::shell::run;

/// The one line by which it is refused, with exit code 78.
fn refused(before: &[&str], words: &str) -> String {
    let words: Vec<&str> =
        [before, &[BELLWETHER]].concat().into_iter().chain(words.split(' ')).collect();
    let output = run(&words, "").expect("it starts");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(78), "{words:?}: {errors}");
    assert_eq!(errors.lines().count(), 1, "{words:?}: {errors}");
    errors
}

#[test]
fn what_cannot_be_set_is_refused_before_the_member_joins() {
    let folder = Folder::new();
    let (dir, peers) = (folder.file("state"), listed(&free_places(3)));
    let group = |what: &str| format!("{what} web --id 1 --insecure --peers {peers} --dir {dir}");
    let own = free_places(1)[0].ip();
    for (flags, line) in [
        (
            "--address 10.9.0.1/24@nowhere0",
            "no interface is called 'nowhere0'; `ip link` lists them",
        ),
        ("--address 10.9.0.1/24@lo --address 10.9.0.1/32@lo", "10.9.0.1 is listed twice"),
        ("--address 10.9.0.1/24@lo --mode local", "two hosts would have it"),
    ] {
        for what in ["run", "check-config"] {
            let told = refused(&[], &format!("{} {flags}", group(what)));
            assert!(told.contains(line), "{flags}: {told}");
        }
    }
    let listed =
        format!("run web --id 1 --insecure --dir {dir} --peers 1={own}:7400,2=10.9.0.2:7400");
    let told = refused(&[], &format!("{listed} --address 10.9.0.2/24@lo"));
    assert!(told.contains("it is the address of member 2 in --peers"), "{told}");
}

#[test]
fn who_may_not_set_addresses_is_told_what_is_missing() {
    let folder = Folder::new();
    let (dir, peers) = (folder.file("state"), listed(&free_places(3)));
    let words =
        format!("run web --id 1 --insecure --peers {peers} --dir {dir} --address 10.9.0.1/24@lo");
    for (dropped, missing) in [
        ("-net_admin", "lacks CAP_NET_ADMIN, which"),
        ("-net_raw", "lacks CAP_NET_RAW, which"),
        ("-net_admin,-net_raw", "lacks CAP_NET_ADMIN and CAP_NET_RAW, which"),
    ] {
        let before = ["setpriv", "--inh-caps", dropped, "--bounding-set", dropped];
        let told = refused(&before, &words);
        assert!(told.contains(missing) && told.contains("AmbientCapabilities="), "{told}");
    }
}

#[test]
fn a_file_names_addresses_in_tables() {
    let folder = Folder::new();
    let (dir, peers) = (folder.file("state"), listed(&free_places(3)));
    let head =
        format!("group = \"web\"\nid = 1\ninsecure = true\npeers = \"{peers}\"\ndir = \"{dir}\"\n");
    let file = folder.file("web.toml");
    let check = |text: &str| {
        std::fs::write(&file, format!("{head}{text}")).expect("there is room");
        run(&[BELLWETHER, "check-config", "--config", &file], "").expect("it starts")
    };
    let output = check(
        "[[address]]\nip = \"10.9.0.1/24\"\ninterface = \"lo\"\n\
         [[address]]\nip = \"fd09::1/64\"\ninterface = \"lo\"\n",
    );
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{output:?}");
    assert!(text.contains("ok  address    10.9.0.1/24@lo can be set\n"), "{text}");
    assert!(text.contains("ok  address    fd09::1/64@lo can be set\n"), "{text}");
    assert!(text.contains("grace 0s"), "an address alone needs none: {text}");
    assert!(
        text.contains("10.9.0.1/24@lo: note: lo has no other address of that network"),
        "{text}"
    );
    for (text, line) in [
        ("[[address]]\nip = \"10.9.0.1/24\"\n", "[[address]] has no interface: write ip = "),
        ("[[address]]\ninterface = \"lo\"\n", "[[address]] has no ip: write ip = "),
        (
            "[[address]]\nip = \"10.9.0.1/24\"\ninterface = \"lo\"\nlabel = \"x\"\n",
            "[[address]] has no setting 'label', but ip and interface",
        ),
        (
            "[[address]]\nip = \"10.9.0.1/24\"\ninterface = \"lo\"\nhook-timeout = \"1s\"\n",
            "'hook-timeout', but ip and interface; it is a setting of the member: write it above",
        ),
        (
            "[[check]]\nfile = \"/x\"\nhook_timeout = \"1s\"\n",
            "it is a setting of the member: write it above the first line with [",
        ),
        ("[params]\nhook-timeout = \"1s\"\n", "it is a setting of the member: write it above"),
        ("command = \"sleep 9\"\n", "write command = [\"sleep\", \"9\"], or shell = \"sleep 9\""),
        ("address = [\"10.9.0.1@lo\"]\n", "'10.9.0.1@lo': write IP/LEN@INTERFACE"),
        ("[[address]]\nip = \"10.9.0.0/24\"\ninterface = \"lo\"\n", "no host can have it"),
        ("[[address]]\nip = \"10.9.0.7/40\"\ninterface = \"lo\"\n", "from 1 to 32"),
    ] {
        let output = check(text);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(78), "{text}: {errors}");
        assert!(errors.contains(line) && errors.lines().count() == 1, "{text}: {errors}");
    }
}
