//! A search by several workers against the same search by the engine alone.

mod meeting;
mod same;
mod stairs;
