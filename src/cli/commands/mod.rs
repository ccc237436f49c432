//! The subcommands, one file each; those with many parts have a folder.

pub(in crate::cli) mod analyze;
pub(in crate::cli) mod check;
pub(in crate::cli) mod check_config;
pub(in crate::cli) mod completions;
pub(in crate::cli) mod demo;
pub(in crate::cli) mod explore;
pub(in crate::cli) mod guard;
pub(in crate::cli) mod keygen;
pub(in crate::cli) mod keys;
pub(in crate::cli) mod live;
pub(in crate::cli) mod members;
pub(in crate::cli) mod plan;
pub(in crate::cli) mod protocols;
pub(in crate::cli) mod reload;
pub(in crate::cli) mod replay;
pub(in crate::cli) mod report;
pub(in crate::cli) mod reproduce;
pub(in crate::cli) mod resign;
pub(in crate::cli) mod run;
pub(in crate::cli) mod sim;
pub(in crate::cli) mod status;
pub(in crate::cli) mod trace;
pub(in crate::cli) mod transfer;
pub(in crate::cli) mod watch;
pub(in crate::cli) mod why;
