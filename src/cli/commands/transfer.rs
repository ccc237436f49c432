//! `bellwether transfer`: a running leader hands over to another member.

use crate::cli::Done;
use crate::cli::failure::Failure;
use crate::cli::flags::target::Target;
use crate::cli::output::TableOrJson;
use bellwether::net::status::Status;
use clap::Args;
use std::io::{self, Write};
use std::str::FromStr;

/// Make a running leader hand over to another member; it stays in the group
#[derive(Args, Debug)]
#[command(
    allow_missing_positional = true,
    after_help = "\
If the member runs a command, that is ended first. A member that cannot lead now is refused, and \
nothing changes. Examples:
  bellwether transfer web 2        member 2 leads next
  bellwether transfer web next     the next of those that support the leader, in the order of ids"
)]
pub(in crate::cli) struct Transfer {
    #[command(flatten)]
    target: Target,
    /// The member that should lead next, or `next` in the order of ids
    #[arg(value_name = "MEMBER")]
    to: Nominee,
}

/// Who should lead next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nominee {
    /// This member.
    Member(u64),
    /// The next one after the leader, and around.
    Next,
}

impl FromStr for Nominee {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "next" => Ok(Self::Next),
            id => id.parse().map(Self::Member).map_err(|_| "it is neither a number nor `next`"),
        }
    }
}

impl Nominee {
    /// The member that is meant, as the leader sees the group.
    fn of(self, status: &Status) -> Result<u64, Failure> {
        let others = status.members.iter().filter(|member| member.supports && !member.me);
        let next = after(status.id, others.map(|member| member.id));
        match (self, next) {
            (Self::Member(id), _) | (Self::Next, Some(id)) => Ok(id),
            (Self::Next, None) => Err(Failure::Io(format!(
                "member {} knows nobody else that supports its leader, so nobody is the next; \
                 nothing changed; look with `bellwether members` who is there",
                status.id
            ))),
        }
    }
}

/// The next of these in the order of ids, and around.
fn after(id: u64, others: impl Iterator<Item = u64>) -> Option<u64> {
    others.min_by_key(|other| (*other < id, *other))
}

impl Transfer {
    pub(in crate::cli) fn run(&self) -> Done {
        // A member that is stopped would let the caller wait for the end of its command.
        let to = self.to.of(&self.target.connect()?.status()?)?;
        let mut client = self.target.connect()?;
        client.transfer(to)?;
        let (group, id) = (&client.place().group, client.place().id);
        match self.target.format {
            TableOrJson::Table => {
                writeln!(io::stdout(), "member {id} hands {group} over to {to}")?;
            }
            TableOrJson::Json => writeln!(io::stdout(), "{{\"done\":true}}")?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_is_the_next_greater_one_or_the_least() {
        assert_eq!(after(3, [1, 2, 4, 9].into_iter()), Some(4));
        assert_eq!(after(9, [4, 2].into_iter()), Some(2));
        assert_eq!(after(9, [].into_iter()), None);
        assert_eq!("next".parse(), Ok(Nominee::Next));
        assert_eq!("7".parse(), Ok(Nominee::Member(7)));
        assert!("first".parse::<Nominee>().is_err());
    }
}
