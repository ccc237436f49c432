//! Chang-Roberts and Hirschberg-Sinclair in a world: the message counts of the literature to the
//! letter, and agreement after any trouble.

mod chang_roberts;
mod crashes;
mod hirschberg_sinclair;
mod schedules;
mod support;
