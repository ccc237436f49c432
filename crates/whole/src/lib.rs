//! Nothing of its own. Whoever adds `bellwether` to a program gets the live election and few
//! packages; whoever builds this workspace wants the command. Cargo builds packages that are
//! selected together with the features that any of them asks for, and this one asks for all.
