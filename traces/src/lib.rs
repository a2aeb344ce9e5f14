//! describes and judges, never acts.
