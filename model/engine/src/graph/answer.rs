//! What a check of a graph says.

/// Whether something holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<T> {
    /// It does. Only a complete graph says so.
    Holds,
    /// It does not, and this shows it. Also an incomplete graph may say so: what shows it uses
    /// nothing but states that were expanded.
    Violated(T),
    /// Nothing speaks against it, but not everything was looked at.
    Open(Open),
}

/// What was not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open {
    /// Known states that were not expanded.
    pub unexpanded: u64,
    /// States from which something leads out of the model's bounds. None where the bounds are
    /// part of the model.
    pub leaving: u64,
}

impl<T> Answer<T> {
    /// Whether it holds.
    pub fn holds(&self) -> bool {
        matches!(self, Self::Holds)
    }

    /// The same answer, shown otherwise.
    pub fn map<U>(self, shown: impl FnOnce(T) -> U) -> Answer<U> {
        match self {
            Self::Holds => Answer::Holds,
            Self::Violated(this) => Answer::Violated(shown(this)),
            Self::Open(open) => Answer::Open(open),
        }
    }

    /// What shows that it does not.
    pub fn violation(&self) -> Option<&T> {
        match self {
            Self::Violated(shown) => Some(shown),
            Self::Holds | Self::Open(_) => None,
        }
    }
}

/// States from which there is no way on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The first of them, so one with a shortest path.
    pub first: u32,
    /// How many there are. Of an incomplete graph, those that are known for sure.
    pub count: u64,
}
