//! A network of namespaces: one with a bridge, and one for each member, joined to it by a cable.
//!
//! **Assumptions.** `ip netns` keeps names in one place for the whole machine, so names hold the
//! process that made them.
//!
//! **Promise.** The host's own network is never touched: both ends of every cable are made inside
//! the namespaces.

use super::clock::{now, sleep};
use super::hub::Hub;
use super::shell::{attempt, must};
use super::unique;
use bellwether::core::Duration;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fmt::Write;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

const PREFIX: &str = "bellwether-";
/// What is in here under a namespace's name, `ip netns exec` puts over `/etc` for whom it starts.
const FILES: &str = "/etc/netns";

/// What starts a process in a namespace and becomes it. `ip netns exec` would put another `/sys`
/// over the machine's, in which no cgroup is mounted; only a namespace with files of its own needs
/// it.
pub(super) fn enter(namespace: &str) -> Vec<String> {
    if Path::new(FILES).join(namespace).is_dir() {
        ["ip", "netns", "exec", namespace].map(str::to_owned).to_vec()
    } else {
        vec!["nsenter".to_owned(), format!("--net=/run/netns/{namespace}")]
    }
}

/// Removes the networks of processes that are no more.
fn sweep() {
    let names = must(&["ip", "netns", "list"], "");
    for name in names.lines().filter_map(|line| line.split_whitespace().next()) {
        let owner = name.strip_prefix(PREFIX).and_then(|rest| rest.split('x').next());
        let Some(Ok(owner)) = owner.map(str::parse::<u32>) else { continue };
        if !Path::new(&format!("/proc/{owner}")).exists() {
            // Somebody else may be sweeping too.
            let _ = attempt(&["ip", "netns", "delete", name], "");
            let _ = fs::remove_dir_all(Path::new(FILES).join(name));
        }
    }
}

/// Which addresses members use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    V4,
    V6,
}

/// Members 1 to n on a bridge.
pub(crate) struct Network {
    name: String,
    members: u64,
    /// Started with the first cut.
    ports: Mutex<Option<Hub>>,
}

impl Network {
    /// The port on which members hear each other.
    pub(crate) const PORT: u16 = 7400;
    /// The name that [`give_names`](Self::give_names) gives.
    pub(crate) const HOST: &str = "flock";

    pub(crate) fn new(members: u64) -> Self {
        sweep();
        let network = Self { name: unique(), members, ports: Mutex::new(None) };
        let hub = network.hub();
        // From here on whatever exists is removed when `network` goes.
        let mut made = format!("netns add {hub}\n");
        for id in 1..=members {
            let own = network.namespace(id);
            let _ = writeln!(made, "netns add {own}");
            let _ = writeln!(made, "link add eth0 netns {own} type veth peer p{id} netns {hub}");
        }
        must(&["ip", "-batch", "-"], &made);
        // Without snooping a multicast reaches every port, and no querier is needed.
        let mut bridge = "link add hub type bridge mcast_snooping 0\nlink set hub up\n".to_owned();
        for id in 1..=members {
            let _ = writeln!(bridge, "link set p{id} master hub up");
        }
        must(&["ip", "-n", &hub, "-batch", "-"], &bridge);
        (1..=members).for_each(|id| network.furnish(id));
        network
    }

    /// Joins one more host to the bridge, which is no member; returns its number.
    pub(crate) fn add_guest(&mut self) -> u64 {
        self.members += 1;
        let (id, hub) = (self.members, self.hub());
        let own = self.namespace(id);
        let made = format!(
            "netns add {own}\nlink add eth0 netns {own} type veth peer p{id} netns {hub}\n"
        );
        must(&["ip", "-batch", "-"], &made);
        must(&["ip", "-n", &hub, "link", "set", &format!("p{id}"), "master", "hub", "up"], "");
        self.furnish(id);
        id
    }

    /// Addresses, a table for cuts, and a count of the datagrams that a member sends.
    fn furnish(&self, id: u64) {
        let own = self.namespace(id);
        // Addresses are of use at once, and outlive a link that goes down.
        let settings = "cd /proc/sys/net/ipv6/conf; for place in all eth0; do \
                        echo 0 > $place/accept_dad; echo 1 > $place/keep_addr_on_down; done";
        must(&["ip", "netns", "exec", &own, "sh", "-c", settings], "");
        let (v4, v6) = (Self::address(id, Family::V4), Self::address(id, Family::V6));
        let links = format!(
            "address add {v4}/24 dev eth0\naddress add {v6}/64 dev eth0 nodad\nlink set lo up\n\
             link set eth0 up\nroute add 224.0.0.0/4 dev eth0\n"
        );
        must(&["ip", "-n", &own, "-batch", "-"], &links);
        let table = format!(
            "add table inet lab\n\
             add chain inet lab arriving {{ type filter hook input priority 0; }}\n\
             add chain inet lab leaving {{ type filter hook output priority 0; }}\n\
             add rule inet lab leaving udp dport {} counter\n\
             add chain inet lab sent {{ type filter hook output priority 1; }}\n\
             add rule inet lab sent oifname eth0 counter\n",
            Self::PORT
        );
        self.nft(id, &table);
    }

    /// Gives all members a host name for all of them: `HOST`.
    pub(crate) fn give_names(&self) {
        let mut hosts = "127.0.0.1 localhost\n".to_owned();
        for id in 1..=self.members {
            let _ = writeln!(hosts, "{} {}", Self::address(id, Family::V4), Self::HOST);
        }
        (1..=self.members).for_each(|id| self.give_hosts(id, &hosts));
    }

    /// Gives a member, now or while it runs, a file of hosts of its own.
    pub(crate) fn give_hosts(&self, id: u64, hosts: &str) {
        let files = Path::new(FILES).join(self.namespace(id));
        fs::create_dir_all(&files).expect("root makes directories in /etc");
        fs::write(files.join("hosts"), hosts).expect("there is room for a file");
    }

    fn hub(&self) -> String {
        format!("{PREFIX}{}-hub", self.name)
    }

    /// The namespace of a member.
    pub(crate) fn namespace(&self, id: u64) -> String {
        format!("{PREFIX}{}-{id}", self.name)
    }

    /// The address of a member.
    pub(crate) fn address(id: u64, family: Family) -> IpAddr {
        match family {
            Family::V4 => Ipv4Addr::new(10, 77, 0, id as u8).into(),
            Family::V6 => Ipv6Addr::new(0xfd00, 0x77, 0, 0, 0, 0, 0, id as u16).into(),
        }
    }

    /// Where members 1 to `count` are.
    pub(crate) fn places(count: u64, family: Family) -> Vec<SocketAddr> {
        let place = |id| SocketAddr::new(Self::address(id, family), Self::PORT);
        (1..=count).map(place).collect()
    }

    /// An address that reaches all members.
    pub(crate) fn multicast(family: Family) -> SocketAddr {
        let address = match family {
            Family::V4 => Ipv4Addr::new(239, 77, 0, 1).into(),
            Family::V6 => Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0x77).into(),
        };
        SocketAddr::new(address, Self::PORT)
    }

    fn nft(&self, id: u64, rules: &str) -> String {
        must(&["ip", "netns", "exec", &self.namespace(id), "nft", "-f", "-"], rules)
    }

    fn hub_link(&self, id: u64, what: &str) {
        let mut ports = self.ports.lock().unwrap_or_else(PoisonError::into_inner);
        ports.get_or_insert_with(|| Hub::new(&self.hub())).set(&format!("p{id}"), what);
    }

    /// Starts what a cut needs, so that the first one is as quick as the others.
    pub(crate) fn get_ready(&self) {
        (1..=self.members).for_each(|id| self.join(id));
    }

    /// The member's port leaves the bridge; its carrier stays, so it cannot know.
    pub(crate) fn cut_silently(&self, id: u64) {
        self.hub_link(id, "nomaster");
    }

    /// The port is on the bridge again.
    pub(crate) fn join(&self, id: u64) {
        self.hub_link(id, "master hub");
    }

    /// The member's interface goes down: what it sends fails.
    pub(crate) fn link_down(&self, id: u64) {
        must(&["ip", "-n", &self.namespace(id), "link", "set", "eth0", "down"], "");
    }

    /// The interface is up again, and the multicast route with it. The bridge takes its time to see
    /// that; we wait until it has.
    pub(crate) fn link_up(&self, id: u64) {
        let words = "link set eth0 up\nroute replace 224.0.0.0/4 dev eth0\n";
        must(&["ip", "-n", &self.namespace(id), "-batch", "-"], words);
        let (hub, port) = (self.hub(), format!("p{id}"));
        let forwards = || {
            let words = ["ip", "-n", &hub, "-details", "link", "show", &port];
            must(&words, "").contains("state forwarding")
        };
        let end = now() + Duration::from_secs(5);
        while !forwards() {
            assert!(now() < end, "the bridge does not see that member {id} has a link again");
            sleep(Duration::from_millis(5));
        }
    }

    /// Nothing that `from` sends reaches `to` any more.
    pub(crate) fn cut_one_way(&self, from: u64, to: u64) {
        let (v4, v6) = (Self::address(from, Family::V4), Self::address(from, Family::V6));
        let rules = format!(
            "add rule inet lab arriving ip saddr {v4} drop\n\
             add rule inet lab arriving ip6 saddr {v6} drop\n"
        );
        self.nft(to, &rules);
    }

    /// So many of a thousand datagrams that reach a member are lost.
    pub(crate) fn lose(&self, id: u64, of_thousand: u64) {
        let (port, lost) = (Self::PORT, of_thousand);
        let rule = format!("udp dport {port} numgen random mod 1000 < {lost} drop");
        self.nft(id, &format!("add rule inet lab arriving {rule}\n"));
    }

    /// No multicast reaches a member any more.
    pub(crate) fn deafen(&self, id: u64) {
        let rules = "add rule inet lab arriving ip daddr 224.0.0.0/4 drop\n\
                     add rule inet lab arriving ip6 daddr ff02::77 drop\n";
        self.nft(id, rules);
    }

    /// Does something in the namespace of a member: a thread goes there and ends. A socket that it
    /// opens stays in that network.
    pub(crate) fn inside<T: Send + 'static>(
        &self,
        id: u64,
        act: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        self.thread(id, act).join().expect("the thread ends")
    }

    /// The same, on a thread that goes on.
    pub(crate) fn thread<T: Send + 'static>(
        &self,
        id: u64,
        act: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        let namespace = fs::File::open(format!("/run/netns/{}", self.namespace(id)));
        let namespace = namespace.expect("the namespace is there");
        std::thread::spawn(move || {
            move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))
                .expect("root goes anywhere");
            act()
        })
    }

    /// All one-way cuts and losses are mended.
    pub(crate) fn mend(&self, id: u64) {
        self.nft(id, "flush chain inet lab arriving\n");
    }

    /// How many datagrams a member has sent to the group's port.
    pub(crate) fn datagrams(&self, id: u64) -> u64 {
        self.counted(id, "leaving")
    }

    /// How many packets of any kind have left a member's machine.
    pub(crate) fn packets(&self, id: u64) -> u64 {
        self.counted(id, "sent")
    }

    /// The one counter of a chain.
    fn counted(&self, id: u64, chain: &str) -> u64 {
        let own = self.namespace(id);
        let words = ["ip", "netns", "exec", &own, "nft", "list", "chain", "inet", "lab", chain];
        let listing = must(&words, "");
        let mut listed = listing.split_whitespace().skip_while(|word| *word != "packets");
        let count = listed.nth(1).and_then(|count| count.parse().ok());
        count.unwrap_or_else(|| panic!("no counter in {listing}"))
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        *self.ports.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let names = (1..=self.members).map(|id| self.namespace(id)).chain([self.hub()]);
        for name in names {
            // A network that was never finished lacks some of them.
            let _ = attempt(&["ip", "netns", "delete", &name], "");
            let _ = fs::remove_dir_all(Path::new(FILES).join(&name));
        }
        let _ = fs::remove_dir(FILES); // unless somebody else has files there
    }
}
