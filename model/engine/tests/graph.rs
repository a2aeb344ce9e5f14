//! The search and the checks of its graph against plain searches written for this test alone.

#[path = "graph/interner.rs"]
mod interner;
#[path = "graph/large.rs"]
mod large;
#[path = "graph/models.rs"]
mod models;
#[path = "graph/naive.rs"]
mod naive;
#[path = "graph/planted.rs"]
mod planted;
#[path = "graph/properties.rs"]
mod properties;
#[path = "graph/random.rs"]
mod random;
#[path = "graph/small.rs"]
mod small;
#[path = "graph/theirs.rs"]
mod theirs;
