//! Which running member a command talks to, and how it writes the answer.

use crate::cli::failure::{Failure, with_flags};
use crate::cli::output::TableOrJson;
use crate::cli::runtime_dir;
use bellwether::net::control::{Client, ClientError, find};
use clap::Args;
use std::io::ErrorKind;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(in crate::cli) struct Target {
    /// The group; not needed if just one member runs here [env: BELLWETHER_GROUP]
    group: Option<String>,
    /// Which of its members, if several run on this machine [env: BELLWETHER_ID]
    #[arg(long, global = true, value_name = "N")]
    id: Option<u64>,
    /// The directory that the member was started with [env: BELLWETHER_DIR]
    #[arg(long, global = true, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// How to write the answer
    #[arg(long, global = true, value_enum, default_value_t)]
    pub(in crate::cli) format: TableOrJson,
}

impl Target {
    /// Connects to it.
    pub(in crate::cli) fn connect(&self) -> Result<Client, Failure> {
        let text = |name| runtime_dir::variable(name).and_then(|value| value.into_string().ok());
        let group = self.group.clone().or_else(|| text("BELLWETHER_GROUP"));
        let id = match (self.id, text("BELLWETHER_ID")) {
            (Some(id), _) => Some(id),
            (None, Some(written)) => Some(written.parse().map_err(|_| {
                Failure::usage(format!("BELLWETHER_ID={written}: an id is a whole number"))
            })?),
            (None, None) => None,
        };
        let (mut nobody, mut denied) = (None, None);
        for dir in runtime_dir::all_of_process(self.dir.as_deref()) {
            match find(&dir, group.as_deref(), id) {
                Err(ClientError::Io(path, error))
                    if error.kind() == ErrorKind::PermissionDenied =>
                {
                    denied = denied.or(Some(path));
                }
                Err(why @ ClientError::Nobody { .. }) => nobody = nobody.or(Some(why)),
                found => return found.map_err(Failure::from),
            }
        }
        Err(match (nobody, denied) {
            (Some(nobody), _) => Failure::from(nobody),
            (None, Some(path)) => Failure::Io(format!(
                "cannot talk to {}: Permission denied; only the member's user and root may ask it",
                path.display()
            )),
            (None, None) => Failure::Io("there is no directory to look in".to_owned()),
        })
    }
}

impl From<ClientError> for Failure {
    fn from(why: ClientError) -> Self {
        match why {
            ClientError::Several(_) => Self::Usage(with_flags(&why)),
            ClientError::NotReloaded(refused) if refused.bad => Self::Config(refused.why),
            _ => Self::Io(with_flags(&why)),
        }
    }
}
