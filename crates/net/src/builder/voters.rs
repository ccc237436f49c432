//! Who votes at first: members that are named, or the best of the list.

use super::{Builder, Checked};
use crate::bad_settings::BadSettings;
use crate::peers::Peers;
use crate::program::Program;
use bellwether_core::{Candidacy, NodeId};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::str::FromStr;

/// The listed members that vote at first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FoundingVoters {
    /// These, as in `1,2,3`; one alone is `1,`.
    Named(Vec<NodeId>),
    /// So many, as in `5`: those of the greatest priority, and of equal ones those with the least
    /// ids.
    Best(usize),
}

impl FromStr for FoundingVoters {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |word: &str| {
            word.trim().parse::<u64>().map_err(|_| {
                format!(
                    "'{word}' is not a number: write ids, as in 1,2,3, or how many of the best \
                     members vote, as in 5"
                )
            })
        };
        if !text.contains(',') {
            return Ok(Self::Best(usize::try_from(number(text)?).unwrap_or(usize::MAX)));
        }
        let words = text.split(',').filter(|word| !word.trim().is_empty());
        Ok(Self::Named(words.map(|word| number(word).map(NodeId)).collect::<Result<_, _>>()?))
    }
}

/// The rules about voters.
impl Builder {
    /// The founding voters in order of id, unless all members vote. Each must be a member, and be
    /// named once.
    pub(super) fn check_voters(
        &self,
        peers: &Peers,
        program: &Program,
    ) -> Checked<Option<Vec<NodeId>>> {
        let Some(voters) = &self.voters else { return Ok(None) };
        if program.choice.is_some() && !program.has_tokens() {
            return Err(BadSettings::NobodyVotes { protocol: program.name });
        }
        let Peers::Listed(listed) = peers else {
            return Err(BadSettings::NoList { peers: peers.clone() });
        };
        let mut voters = match voters {
            FoundingVoters::Named(ids) => ids.clone(),
            FoundingVoters::Best(count) if *count > listed.len() => {
                let (wanted, listed) = (*count, listed.len());
                return Err(BadSettings::BestOfFewer { wanted, listed });
            }
            FoundingVoters::Best(count) => {
                let priority = |id| self.priorities.iter().find(|(of, _)| *of == id);
                let mut best: Vec<NodeId> = listed.keys().copied().collect();
                best.sort_by_key(|id| (Reverse(priority(*id).map_or(0, |known| known.1)), *id));
                best.truncate(*count);
                best
            }
        };
        voters.sort_unstable();
        if voters.is_empty() {
            return Err(BadSettings::NoVoter);
        }
        if let Some(pair) = voters.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(BadSettings::VoterTwice(pair[0]));
        }
        if let Some(id) = voters.iter().find(|id| !listed.contains_key(id)) {
            return Err(BadSettings::UnknownVoter { id: *id, peers: peers.clone() });
        }
        Ok(Some(voters).filter(|voters| voters.len() < listed.len()))
    }

    /// How willing this member is to lead, by its own settings and those of all.
    pub(super) fn find_candidacy(&self, me: NodeId, peers: &Peers) -> Checked<Candidacy> {
        let mut known = BTreeMap::new();
        for (id, priority) in &self.priorities {
            if let Peers::Listed(listed) = peers
                && !listed.contains_key(id)
            {
                let (id, peers) = (*id, peers.clone());
                return Err(BadSettings::UnknownPriority { id, peers });
            }
            if known.insert(*id, *priority).is_some() {
                return Err(BadSettings::PriorityTwice(*id));
            }
        }
        let own = self.candidacy.priority;
        let chosen = matches!(self.voters, Some(FoundingVoters::Best(_)));
        match known.get(&me) {
            Some(priority) if own == 0 || own == *priority => {
                Ok(Candidacy { priority: *priority, ..self.candidacy })
            }
            Some(priority) => Err(BadSettings::TwoPriorities { id: me, own, listed: *priority }),
            None if own > 0 && chosen => Err(BadSettings::OwnPriority { id: me, own }),
            None => Ok(self.candidacy),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_a_count_and_a_list_names_members() {
        let named = |ids: &[u64]| FoundingVoters::Named(ids.iter().copied().map(NodeId).collect());
        for (text, voters) in [
            ("5", FoundingVoters::Best(5)),
            ("0", FoundingVoters::Best(0)),
            ("5,", named(&[5])),
            ("1, 2,3", named(&[1, 2, 3])),
            (",", named(&[])),
        ] {
            assert_eq!(text.parse(), Ok(voters), "{text}");
        }
        for text in ["x", "1,x", "", "-1", "1 2"] {
            let refused = text.parse::<FoundingVoters>().unwrap_err();
            assert!(refused.contains("is not a number: write ids"), "{text}: {refused}");
        }
    }
}
