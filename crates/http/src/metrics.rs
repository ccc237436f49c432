//! The page for Prometheus.
//!
//! **Source.** The text format of the official client. Names follow Prometheus' rules: base units,
//! `_seconds`, `_total`. `leader_election_master_status` is what other elections call it.
//!
//! **Promise.** Whoever does not ask for OpenMetrics gets Prometheus' own format, in which the name
//! of a counter has `_total` in its description, too.

use crate::handler::Tallies;
use crate::history::{End, History};
use bellwether_core::Instant;
use bellwether_net::status::AddressState;
use bellwether_net::{Lengths, Role, Snapshot, Status};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

pub(crate) const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
pub(crate) const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Before the name of each metric.
const PREFIX: &str = "bellwether";

type Labels = Vec<(&'static str, String)>;

/// One metric, with its value for each set of labels.
#[derive(Debug)]
struct Metric {
    name: &'static str,
    help: &'static str,
    kind: MetricType,
    values: Vec<(Labels, f64)>,
}

/// The metrics of one registry.
#[derive(Debug)]
struct Metrics(Vec<Metric>);

impl Collector for Metrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for Metric { name, help, kind, values } in &self.0 {
            if values.is_empty() {
                continue;
            }
            let mut metric = encoder.encode_descriptor(name, help, None, *kind)?;
            for (labels, value) in values {
                let one = if labels.is_empty() {
                    encode(*kind, *value, &mut metric)
                } else {
                    encode(*kind, *value, &mut metric.encode_family(labels)?)
                };
                one?;
            }
        }
        Ok(())
    }
}

/// Lengths of time by classes, with a name and a description.
#[derive(Debug)]
struct Histogram {
    name: &'static str,
    help: &'static str,
    lengths: Lengths,
}

impl Collector for Histogram {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let Self { name, help, lengths } = self;
        let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Histogram)?;
        metric.encode_histogram::<Labels>(lengths.sum, lengths.count(), &lengths.classes, None)
    }
}

fn encode(kind: MetricType, value: f64, metric: &mut MetricEncoder<'_>) -> fmt::Result {
    match kind {
        MetricType::Counter => metric.encode_counter::<Labels, _, u64>(&value, None),
        _ => metric.encode_gauge(&value),
    }
}

/// What a page is made of.
pub(crate) struct Scrape<'a> {
    pub(crate) status: &'a Status,
    /// What the member believes, asked after the status, and the time after that.
    pub(crate) standing: &'a Snapshot,
    pub(crate) now: Instant,
    pub(crate) history: History,
    pub(crate) tallies: Tallies,
    /// Connections now: plain ones, and streams.
    pub(crate) open: [usize; 2],
    pub(crate) turned_away: [u64; 2],
}

fn gauge(name: &'static str, help: &'static str, value: f64) -> Metric {
    labelled(name, help, MetricType::Gauge, vec![(Vec::new(), value)])
}

/// A gauge that is there if there is a value.
fn optional(name: &'static str, help: &'static str, value: Option<f64>) -> Metric {
    let values = value.map(|value| (Vec::new(), value)).into_iter().collect();
    labelled(name, help, MetricType::Gauge, values)
}

fn counter(name: &'static str, help: &'static str, value: u64) -> Metric {
    labelled(name, help, MetricType::Counter, vec![(Vec::new(), value as f64)])
}

fn labelled(
    name: &'static str,
    help: &'static str,
    kind: MetricType,
    values: Vec<(Labels, f64)>,
) -> Metric {
    Metric { name, help, kind, values }
}

/// A count for each value of a label.
fn counts<'a>(
    name: &'static str,
    help: &'static str,
    label: &'static str,
    counts: impl Iterator<Item = (&'a str, u64)>,
) -> Metric {
    let values = counts.map(|(value, count)| (vec![(label, value.to_owned())], count as f64));
    labelled(name, help, MetricType::Counter, values.collect())
}

/// Counts that are kept by names.
fn tally(
    name: &'static str,
    help: &'static str,
    label: &'static str,
    tally: &BTreeMap<&'static str, u64>,
) -> Metric {
    counts(name, help, label, tally.iter().map(|(name, count)| (*name, *count)))
}

fn truth(is: bool) -> f64 {
    f64::from(u8::from(is))
}

impl Scrape<'_> {
    /// The page, in the format of OpenMetrics or in that of Prometheus.
    pub(crate) fn page(&self, open: bool) -> Result<String, fmt::Error> {
        let labels = [("group", self.status.group.clone()), ("member", self.status.id.to_string())];
        let labels = labels.map(|(name, value)| (name.into(), value.into()));
        let mut own = Registry::with_prefix_and_labels(PREFIX, labels.into_iter());
        let parts =
            [self.leadership(), self.history(), self.traffic(), self.machine(), self.health()];
        let metrics = parts.into_iter().flatten().collect();
        own.register_collector(Box::new(Metrics(metrics)));
        for histogram in self.delays() {
            own.register_collector(Box::new(histogram));
        }
        let mut usual = Registry::default();
        let name = vec![("name", self.status.group.clone())];
        usual.register_collector(Box::new(Metrics(vec![labelled(
            "leader_election_master_status",
            "Whether this member leads the group: 1 or 0",
            MetricType::Gauge,
            vec![(name, truth(self.standing.leads()))],
        )])));
        let mut text = String::new();
        encode_registry(&mut text, &own)?;
        encode_registry(&mut text, &usual)?;
        if open {
            encode_eof(&mut text)?;
            return Ok(text);
        }
        Ok(plain(&text))
    }

    fn leadership(&self) -> Vec<Metric> {
        let Self { status, standing, now, history, .. } = self;
        let role = standing.role();
        let roles = [Role::Leader, Role::Follower, Role::Looking, Role::Withdrawn]
            .map(|one| (vec![("role", one.name().to_owned())], truth(one == role)));
        let info = vec![
            ("version", status.version.clone()),
            ("protocol", status.protocol.clone()),
            ("promise", status.promise.clone()),
        ];
        let heard = status.members.iter().filter_map(|member| {
            let heard = member.heard_ms.filter(|_| !member.me)? / 1e3;
            Some((vec![("peer", member.id.to_string())], heard))
        });
        let keys = status.keys.iter().enumerate().map(|(at, key)| {
            let used = if at == 0 { "send" } else { "accept" };
            (vec![("key", key.clone()), ("use", used.to_owned())], 1.0)
        });
        let leader = standing.leaders.first().map(|leader| leader.0 as f64);
        let left = standing.remaining().map(|_| standing.until.since(*now).as_secs_f64());
        let leads = history.leads_since.filter(|_| standing.leads());
        let leads = leads.map_or(0.0, |since| now.since(since).as_secs_f64());
        let gauges = MetricType::Gauge;
        vec![
            labelled("info", "The program and the protocol", gauges, vec![(info, 1.0)]),
            labelled("role", "The role of this member: 1 for the one it has", gauges, roles.into()),
            gauge("leader", "Whether this member leads: 1 or 0", truth(standing.leads())),
            optional("leader_id", "The id of the leader; absent without one", leader),
            optional("term", "The term, its fencing token", status.term.map(|term| term as f64)),
            optional("lease_remaining_seconds", "How long the lease lasts unless renewed", left),
            optional(
                "lease_duration_seconds",
                "How long a lease binds its supporters",
                status.lease_duration_ms.map(|ms| ms / 1e3),
            ),
            gauge("leading_seconds", "For how long this member has led; 0 if it does not", leads),
            gauge("members", "How many members this one knows of", status.members.len() as f64),
            optional(
                "voters",
                "How many members vote",
                status.voters.as_ref().map(|voters| voters.ids.len() as f64),
            ),
            labelled(
                "peer_heard_seconds",
                "The time since another member was last heard",
                gauges,
                heard.collect(),
            ),
            labelled(
                "key_info",
                "The keys of this member by their short names; it sends with one of them",
                gauges,
                keys.collect(),
            ),
            gauge("warnings", "How many warnings its status has", status.warnings.len() as f64),
        ]
    }

    fn history(&self) -> Vec<Metric> {
        let Self { history, standing, .. } = self;
        let ends = End::ALL.iter().zip(history.ends).map(|(end, count)| (end.name(), count));
        vec![
            counter(
                "elections",
                "How often this member began to follow a leader, or to lead",
                history.elections,
            ),
            counter("leader_changes", "How often that was another one", history.changes),
            counter("reigns", "How often this member began to lead", standing.reign),
            counts("reigns_ended", "How its reigns ended", "reason", ends),
        ]
    }

    fn traffic(&self) -> Vec<Metric> {
        let traffic = &self.status.traffic;
        let refused = traffic.refused.iter().map(|(why, count)| (why.as_str(), *count));
        vec![
            counter("datagrams_sent", "Datagrams sent", traffic.sent),
            counter("datagrams_multicast", "Those of them sent by multicast", traffic.multicast),
            counter("sent_bytes", "The bytes of the datagrams sent", traffic.sent_bytes),
            counter("datagrams_unsent", "Datagrams that could not be sent", traffic.send_failures),
            counter("datagrams_received", "Datagrams received and accepted", traffic.received),
            counter("received_bytes", "Their bytes", traffic.received_bytes),
            counts("datagrams_refused", "Datagrams dropped", "reason", refused),
        ]
    }

    fn machine(&self) -> Vec<Metric> {
        let Self { status, tallies, open: [plain, streams], turned_away, .. } = self;
        let [gave_way, refused] = turned_away;
        vec![
            gauge(
                "scheduling_delay_seconds",
                "The longest that the machine lately let this member wait after a timer",
                status.scheduling_delay_ms / 1e3,
            ),
            optional(
                "scheduling_allowed_seconds",
                "The longest that its leases allow for",
                status.scheduling_allowed_ms.map(|ms| ms / 1e3),
            ),
            gauge(
                "clock_trusted",
                "Whether this member trusts its clock: 1 or 0",
                truth(tallies.clock_trusted),
            ),
            counter("clock_faults", "How often its clock was not trusted", tallies.clock_faults),
            tally("hook_calls", "Calls of hooks, by how they ended", "result", &tallies.hooks),
            tally("notify_lines", "Lines for the named pipe", "result", &tallies.notify),
            tally(
                "guardian_actions",
                "What happened to the command and its guardian",
                "action",
                &tallies.guardian,
            ),
            gauge("http_connections", "HTTP connections that are no streams", *plain as f64),
            gauge("http_streams", "Open event streams", *streams as f64),
            counter("http_closed", "HTTP connections that gave way to newer ones", *gave_way),
            counter("http_streams_refused", "Event streams beyond the limit", *refused),
        ]
    }

    fn delays(&self) -> impl Iterator<Item = Histogram> {
        let measured = &self.tallies.measured;
        let all = [
            (
                "round_trip_seconds",
                "While it leads: from its request for a lease until enough had answered",
                &measured.round_trips,
            ),
            (
                "delay_bound_seconds",
                "The bounds on the delays of messages that it received",
                &measured.delay_bounds,
            ),
        ];
        // Where the protocol measures nothing, there is nothing to show.
        let measured = all.into_iter().filter(|(.., lengths)| lengths.count() > 0);
        measured.map(|(name, help, lengths)| Histogram { name, help, lengths: lengths.clone() })
    }

    fn health(&self) -> Vec<Metric> {
        let checks = &self.status.checks;
        let label = |name: &str| ("check", name.to_owned());
        let up = checks.iter().map(|check| (vec![label(&check.name)], truth(check.up)));
        let runs = checks.iter().flat_map(|check| {
            let counts = [
                ("succeeded", check.succeeded),
                ("failed", check.failed),
                ("too-long", check.too_long),
            ];
            counts.map(|(result, count)| {
                (vec![label(&check.name), ("result", result.to_owned())], count as f64)
            })
        });
        let addresses = self.status.addresses.iter().flat_map(|address| {
            AddressState::ALL.map(|state| {
                let labels = vec![
                    ("address", address.ip.clone()),
                    ("interface", address.interface.clone()),
                    ("state", state.name().to_owned()),
                ];
                (labels, truth(state == address.state))
            })
        });
        vec![
            labelled(
                "address",
                "Whether an address of the leader is set on this machine: 1 for its state",
                MetricType::Gauge,
                addresses.collect(),
            ),
            labelled(
                "check_up",
                "Whether a health check is well: 1 or 0",
                MetricType::Gauge,
                up.collect(),
            ),
            labelled(
                "check_runs",
                "Runs of health checks, by how they ended",
                MetricType::Counter,
                runs.collect(),
            ),
        ]
    }
}

/// The same page in Prometheus' own format: there the description of a counter has its full name.
fn plain(text: &str) -> String {
    let counters: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" counter"))
        .collect();
    let mut page = String::with_capacity(text.len());
    for line in text.lines() {
        let described = ["# HELP ", "# TYPE "].into_iter().find_map(|start| {
            let (name, rest) = line.strip_prefix(start)?.split_once(' ')?;
            counters.contains(name).then(|| format!("{start}{name}_total {rest}"))
        });
        page += described.as_deref().unwrap_or(line);
        page.push('\n');
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_prometheus_own_format_a_counter_is_described_by_its_full_name() {
        let open = "# HELP a_sent Sent.\n# TYPE a_sent counter\na_sent_total{x=\"1\"} 2\n\
                    # HELP a_left Left.\n# TYPE a_left gauge\na_left 3\n";
        let own = "# HELP a_sent_total Sent.\n# TYPE a_sent_total counter\n\
                   a_sent_total{x=\"1\"} 2\n# HELP a_left Left.\n# TYPE a_left gauge\na_left 3\n";
        assert_eq!(plain(open), own);
    }
}
