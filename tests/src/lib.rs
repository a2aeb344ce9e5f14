//! the only place where the two worlds meet.
