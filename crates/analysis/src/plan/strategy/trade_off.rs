//! All strategies that were tried, as a picture: what they cost, and how often they succeed.
