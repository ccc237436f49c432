//! The keys of this member: its file, and what it is told to do with them.
//!
//! **Assumptions.** Several members of one machine may have one file; the first of them changes it
//! for all, and the others find it changed.
//!
//! **Promise.** The file is replaced as a whole, durably and for its owner alone, before the keys
//! are used that it has then. An order is obeyed once it shows the challenge that its sender was
//! given, and does the same if it is repeated. If file and keys in force differ otherwise, nothing
//! is done.

use super::KeyId;
use super::words::{KEYS_MAX, Order, Word};
use crate::clock::{BootTime, Clock as _};
use crate::frame::Keyring;
use crate::randomness;
use bellwether_core::{Duration, Instant, NodeId};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// For how long an order may follow its challenge.
const FRESH: Duration = Duration::from_secs(30);
/// The most members whose challenges are remembered: as many as ask at a time, and more.
const ASKING_MAX: usize = 64;

/// What one member was told.
#[derive(Clone, Copy, Debug)]
struct Challenge {
    /// The question for the list, so that it gets the same answer if it is repeated.
    number: u64,
    challenge: u64,
    at: Instant,
}

/// The file, and who may give orders.
#[derive(Debug)]
pub(super) struct Own {
    file: Option<PathBuf>,
    challenges: BTreeMap<NodeId, Challenge>,
}

impl Own {
    pub(super) fn new(file: Option<PathBuf>) -> Self {
        Self { file, challenges: BTreeMap::new() }
    }

    pub(super) fn set_file(&mut self, file: Option<PathBuf>) {
        self.file = file;
    }

    /// The answer to a question; `present` are the keys in force, and `enforce` has others used.
    pub(super) fn answer(
        &mut self,
        sender: NodeId,
        word: Word,
        present: &[KeyId],
        group: &str,
        enforce: &mut dyn FnMut(Keyring) -> bool,
    ) -> Option<Word> {
        let now = BootTime.now();
        match word {
            Word::List { number } => {
                let challenge = self.challenge(sender, number, now)?;
                let refused = self.refuses(present, group);
                Some(Word::Answer { number, challenge, keys: present.to_vec(), refused })
            }
            Word::Do { number, challenge, order } => {
                let given = self.challenges.get(&sender);
                let fresh = given.is_some_and(|given| {
                    given.challenge == challenge && now.since(given.at) < FRESH
                });
                let done = if fresh {
                    self.obey(&order, present, group, enforce)
                } else {
                    Err("the order is too old; ask again".to_owned())
                };
                let (keys, refused) = match done {
                    Ok(keys) => (keys, None),
                    Err(why) => (present.to_vec(), Some(why)),
                };
                Some(Word::Answer { number, challenge, keys, refused })
            }
            Word::Answer { .. } => None,
        }
    }

    /// What an order of this member must show.
    fn challenge(&mut self, sender: NodeId, number: u64, now: Instant) -> Option<u64> {
        self.challenges.retain(|_, given| now.since(given.at) < FRESH);
        if let Some(given) = self.challenges.get(&sender).filter(|given| given.number == number) {
            return Some(given.challenge);
        }
        if self.challenges.len() >= ASKING_MAX && !self.challenges.contains_key(&sender) {
            return None;
        }
        let challenge = randomness::number().ok()?;
        self.challenges.insert(sender, Challenge { number, challenge, at: now });
        Some(challenge)
    }

    /// Why this member could take no step, if it could not.
    pub(super) fn refuses(&self, present: &[KeyId], group: &str) -> Option<String> {
        let (file, ring) = match self.read() {
            Ok(read) => read,
            Err(why) => return Some(why),
        };
        // Another member that has the same file may have changed it a moment ago.
        let ids = ring.key_ids(group);
        if !present.iter().all(|id| ids.contains(id)) {
            return Some(differs(file));
        }
        Keyring::check_replaceable(file)
            .err()
            .map(|error| format!("its key file {} cannot be replaced: {error}", file.display()))
    }

    /// A ring of this key alone.
    pub(super) fn secret(&self, key: KeyId, group: &str) -> Result<Keyring, String> {
        let (file, ring) = self.read()?;
        ring.only(key, group)
            .ok_or_else(|| format!("{} has no key {key}: ask a member that has it", file.display()))
    }

    fn read(&self) -> Result<(&Path, Keyring), String> {
        let file = self.file.as_deref();
        let file = file.ok_or_else(|| "it has no key file, and so no key".to_owned())?;
        let ring = Keyring::read(file).map_err(|bad| bad.to_string())?;
        Ok((file, ring))
    }

    /// Takes a step; returns the keys that it has then.
    pub(super) fn obey(
        &self,
        order: &Order,
        present: &[KeyId],
        group: &str,
        enforce: &mut dyn FnMut(Keyring) -> bool,
    ) -> Result<Vec<KeyId>, String> {
        let (file, before) = self.read()?;
        let name = |ring: &Keyring| ring.key_ids(group);
        let after = match order {
            Order::Install(secret) => before.with(secret),
            Order::Use(id) => before.sending_with(*id, group),
            Order::Remove(id) => before.without(*id, group),
        };
        let keys = wanted(order, present, group)?;
        let after = after.filter(|after| name(after) == keys).ok_or_else(|| differs(file))?;
        if after != before {
            after.replace(file).map_err(|error| {
                format!("its key file {} cannot be replaced: {error}", file.display())
            })?;
        }
        if keys != present && !enforce(after) {
            return Err("it is ending".to_owned());
        }
        Ok(keys)
    }
}

/// The keys in force after this step, or why it is refused.
fn wanted(order: &Order, present: &[KeyId], group: &str) -> Result<Vec<KeyId>, String> {
    let mut keys = present.to_vec();
    match order {
        Order::Install(secret) => {
            let id = Keyring::id_of(secret, group);
            if !keys.contains(&id) {
                if keys.len() >= KEYS_MAX {
                    return Err(format!("it has {} keys already; remove some", keys.len()));
                }
                keys.push(id);
            }
        }
        Order::Use(id) => {
            let place = keys.iter().position(|key| key == id);
            let place = place.ok_or_else(|| format!("it does not have key {id}"))?;
            keys[..=place].rotate_right(1);
        }
        Order::Remove(id) if keys.first() == Some(id) => {
            return Err(format!("it sends with key {id}"));
        }
        Order::Remove(id) => keys.retain(|key| key != id),
    }
    Ok(keys)
}

fn differs(file: &Path) -> String {
    format!("its key file {} has other keys than it uses: reload it first", file.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use zeroize::Zeroizing;

    const GROUP: &str = "web";

    /// A key file in a folder of its own, which is removed at the end.
    struct Scene {
        folder: PathBuf,
        own: Own,
        /// The keys that the member uses.
        ring: Keyring,
    }

    impl Drop for Scene {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }

    impl Scene {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("bw-own-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&folder); // of a process that had this number before
            fs::create_dir_all(&folder).unwrap();
            let ring = Keyring::generate().unwrap();
            let file = folder.join("web.key");
            fs::write(&file, &*ring.to_text()).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
            Self { own: Own::new(Some(file)), folder, ring }
        }

        fn ids(&self) -> Vec<KeyId> {
            self.ring.key_ids(GROUP)
        }

        /// What this member answers to that one.
        fn told(&mut self, sender: u64, word: Word) -> (u64, Vec<KeyId>, Option<String>) {
            let (present, ring) = (self.ids(), &mut self.ring);
            let answer = self.own.answer(NodeId(sender), word, &present, GROUP, &mut |keyring| {
                *ring = keyring;
                true
            });
            let Some(Word::Answer { challenge, keys, refused, .. }) = answer else {
                panic!("{answer:?}");
            };
            (challenge, keys, refused)
        }

        fn challenge(&mut self, sender: u64, number: u64) -> u64 {
            self.told(sender, Word::List { number }).0
        }

        fn take(&mut self, order: Order) -> Result<Vec<KeyId>, String> {
            let challenge = self.challenge(2, 1);
            let (_, keys, refused) = self.told(2, Word::Do { number: 2, challenge, order });
            refused.map_or(Ok(keys), Err)
        }

        fn in_file(&self) -> Vec<KeyId> {
            Keyring::read(&self.folder.join("web.key")).unwrap().key_ids(GROUP)
        }
    }

    fn install(ring: &Keyring) -> Order {
        Order::Install(ring.only_secret().unwrap())
    }

    #[test]
    fn a_rotation_changes_the_file_before_the_keys_and_each_step_may_be_repeated() {
        let mut scene = Scene::new("rotate");
        let new = Keyring::generate().unwrap();
        let (old_id, new_id) = (scene.ids()[0], new.key_ids(GROUP)[0]);
        for (order, keys) in [
            (install(&new), vec![old_id, new_id]),
            (Order::Use(new_id), vec![new_id, old_id]),
            (Order::Remove(old_id), vec![new_id]),
        ] {
            for _ in 0..2 {
                assert_eq!(scene.take(order.clone()), Ok(keys.clone()), "{order:?}");
                assert_eq!((scene.in_file(), scene.ids()), (keys.clone(), keys.clone()));
            }
        }
        let file = scene.folder.join("web.key");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o600);
        let left = fs::read_dir(&scene.folder).unwrap().count();
        assert_eq!(left, 1, "no other file has a secret");
    }

    #[test]
    fn an_order_without_the_present_challenge_is_not_obeyed() {
        let mut scene = Scene::new("challenge");
        let (before, order) = (scene.ids(), install(&Keyring::generate().unwrap()));
        let give = |scene: &mut Scene, sender, challenge| {
            let word = Word::Do { number: 9, challenge, order: order.clone() };
            let (_, keys, refused) = scene.told(sender, word);
            refused.map_or(Ok(keys.len()), Err)
        };
        assert!(give(&mut scene, 2, 0).unwrap_err().contains("too old"), "it never asked");
        let first = scene.challenge(2, 1);
        assert_eq!(scene.challenge(2, 1), first, "a question that is repeated");
        assert!(give(&mut scene, 3, first).unwrap_err().contains("too old"), "another member's");
        let second = scene.challenge(2, 7);
        assert!(give(&mut scene, 2, first).unwrap_err().contains("too old"), "an old one");
        assert_eq!((scene.ids(), scene.in_file()), (before.clone(), before), "nothing changed");
        assert_eq!(give(&mut scene, 2, second), Ok(2));
        // A member that was restarted remembers no challenge: a replayed order is in vain.
        scene.own = Own::new(scene.own.file.clone());
        assert!(give(&mut scene, 2, second).unwrap_err().contains("too old"));
    }

    #[test]
    fn what_would_cut_a_member_off_is_refused_by_itself() {
        let mut scene = Scene::new("refuse");
        let (id, other) = (scene.ids()[0], KeyId([9; 4]));
        assert_eq!(scene.take(Order::Use(other)), Err(format!("it does not have key {other}")));
        assert_eq!(scene.take(Order::Remove(id)), Err(format!("it sends with key {id}")));
        let public = Order::Install(Zeroizing::new([0; 32]));
        assert!(scene.take(public).is_err(), "the key of groups without a secret");
        assert_eq!(scene.in_file(), [id]);
        // What an operator wrote and did not reload is not put into force by the way.
        let edited = scene.ring.with(&Keyring::generate().unwrap().only_secret().unwrap()).unwrap();
        edited.replace(&scene.folder.join("web.key")).unwrap();
        let refused = scene.take(install(&Keyring::generate().unwrap())).unwrap_err();
        assert!(refused.contains("has other keys than it uses: reload it first"), "{refused}");
        assert_eq!(scene.ids(), [id]);
        let insecure = Own::new(None).refuses(&[id], GROUP);
        assert!(insecure.is_some_and(|why| why.contains("no key file")));
    }

    #[test]
    fn members_with_one_file_take_the_same_step_one_after_the_other() {
        let mut scene = Scene::new("shared");
        let new = Keyring::generate().unwrap();
        // Another process has changed the file already.
        let after = scene.ring.with(&new.only_secret().unwrap()).unwrap();
        after.replace(&scene.folder.join("web.key")).unwrap();
        assert_eq!(scene.take(install(&new)), Ok(after.key_ids(GROUP)));
        let id = new.key_ids(GROUP)[0];
        after.sending_with(id, GROUP).unwrap().replace(&scene.folder.join("web.key")).unwrap();
        assert_eq!(scene.take(Order::Use(id)).unwrap()[0], id);
    }

    #[test]
    fn a_ring_does_not_grow_without_end() {
        let mut scene = Scene::new("many");
        for _ in 1..KEYS_MAX {
            scene.take(install(&Keyring::generate().unwrap())).unwrap();
        }
        let refused = scene.take(install(&Keyring::generate().unwrap())).unwrap_err();
        assert_eq!(refused, format!("it has {KEYS_MAX} keys already; remove some"));
    }

    #[test]
    fn a_link_to_the_file_stays_a_link() {
        let mut scene = Scene::new("link");
        let link = scene.folder.join("link.key");
        std::os::unix::fs::symlink(scene.folder.join("web.key"), &link).unwrap();
        scene.own.set_file(Some(link.clone()));
        assert_eq!(scene.take(install(&Keyring::generate().unwrap())).unwrap().len(), 2);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(scene.in_file().len(), 2);
    }
}
