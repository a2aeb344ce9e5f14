//! What a search is judged by, in one binary: it links once.
//!
//! | module | asks |
//! |---|---|
//! | [`naive`] | what is there, if whole states are compared whole? |
//! | [`counts`] | does every sample model have the states it is known to have? |
//! | [`defect`] | which states does stateright take for one, and what else does it miss? |
//! | [`engine`] | does the engine count the same, with any number of threads? |
//!
//! A new module is named here and below. A search is judged by a [`counts::Judge`]: it is handed
//! every sample model with what is known of it.

mod counts;
mod defect;
mod engine;
mod naive;
