//! How a value can be changed: the ways of each type that a rule takes or gives.

use std::any::Any;

use klog_trace::{EpochStart, Record};

/// A type whose values can be changed, in every way that is told apart.
pub trait Ways: Clone {
    /// How many ways there are.
    const COUNT: usize;

    /// Their names, as they follow the name of a value: `/none`, `.hw/zero`.
    fn names() -> Vec<String>;

    /// The value changed in one of the ways. Some values are left as they are by some ways.
    #[must_use]
    fn changed(self, way: usize) -> Self;

    /// Small values, enough to tell apart two rules that differ.
    fn small() -> Vec<Self>;

    /// The value as one that stands alone, if it can be the result of a rule.
    fn owned(&self) -> Option<Box<dyn Any>> {
        None
    }
}

/// Whether a value of `A` can stand in the place of a result `R`.
pub fn can_be<A: Ways, R: 'static>() -> bool {
    A::small().first().and_then(Ways::owned).is_some_and(|value| value.is::<R>())
}

/// Whose turn it is to be changed: ways are counted through, value by value.
#[derive(Clone, Copy, Debug)]
pub struct Turn(Option<usize>);

impl Turn {
    /// The way with this number, counted from the first value that is offered.
    pub fn new(way: usize) -> Self {
        Self(Some(way))
    }

    /// Counts `count` ways; the one that is meant, if it is among them.
    fn among(&mut self, count: usize) -> Option<usize> {
        let way = self.0.take()?;
        if way < count {
            return Some(way);
        }
        self.0 = Some(way - count);
        None
    }

    /// The argument in place of the result, which is one way.
    pub fn instead<A: Ways, R: 'static>(&mut self, argument: &A) -> Option<R> {
        self.among(1)?;
        argument.owned()?.downcast().ok().map(|value| *value)
    }

    /// The value, changed if it is its turn.
    pub fn change<T: Ways>(&mut self, value: T) -> T {
        match self.among(T::COUNT) {
            Some(way) => value.changed(way),
            None => value,
        }
    }
}

/// The names of a part's ways, after the part's own name.
pub fn within<T: Ways>(part: &str) -> impl Iterator<Item = String> {
    T::names().into_iter().map(move |way| format!("{part}{way}"))
}

fn named<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(|name| format!("/{name}")).to_vec()
}

macro_rules! numbers {
    ($($kind:ident)*) => {$(
        impl Ways for $kind {
            const COUNT: usize = 3;

            fn names() -> Vec<String> {
                named(["one-more", "one-less", "zero"])
            }

            fn changed(self, way: usize) -> Self {
                [self.saturating_add(1), self.saturating_sub(1), 0][way]
            }

            fn small() -> Vec<Self> {
                (0..=3).collect()
            }

            fn owned(&self) -> Option<Box<dyn Any>> {
                Some(Box::new(*self))
            }
        }
    )*};
}

numbers! { u8 usize }

impl Ways for bool {
    const COUNT: usize = 3;

    fn names() -> Vec<String> {
        named(["not", "true", "false"])
    }

    fn changed(self, way: usize) -> Self {
        [!self, true, false][way]
    }

    fn small() -> Vec<Self> {
        vec![false, true]
    }
}

/// Errors by Kafka's code; another one is another answer to the same request.
impl Ways for i16 {
    const COUNT: usize = 2;

    fn names() -> Vec<String> {
        named(["zero", "other"])
    }

    fn changed(self, way: usize) -> Self {
        let other = match self {
            1 => 6,
            6 => 1,
            19 => 20,
            20 => 19,
            42 => 95,
            75 => 74,
            77 => 107,
            95 => 77,
            107 => 42,
            same => same,
        };
        [0, other][way]
    }

    fn small() -> Vec<Self> {
        vec![0, 1, 3, 6, 19, 20, 42, 55, 74, 75, 77, 95, 100, 107, 108]
    }
}

impl<T: Ways> Ways for Option<T> {
    const COUNT: usize = 1 + T::COUNT;

    fn names() -> Vec<String> {
        named(["none"]).into_iter().chain(T::names()).collect()
    }

    fn changed(self, way: usize) -> Self {
        match way {
            0 => None,
            _ => self.map(|value| value.changed(way - 1)),
        }
    }

    fn small() -> Vec<Self> {
        std::iter::once(None).chain(T::small().into_iter().map(Some)).collect()
    }
}

impl<T: Ways, E: Ways> Ways for Result<T, E> {
    const COUNT: usize = T::COUNT + E::COUNT;

    fn names() -> Vec<String> {
        within::<T>(".ok").chain(within::<E>(".err")).collect()
    }

    fn changed(self, way: usize) -> Self {
        match way.checked_sub(T::COUNT) {
            None => self.map(|value| value.changed(way)),
            Some(way) => self.map_err(|error| error.changed(way)),
        }
    }

    fn small() -> Vec<Self> {
        let errors = E::small().into_iter().map(Err);
        T::small().into_iter().map(Ok).chain(errors).collect()
    }
}

impl<A: Ways, B: Ways> Ways for (A, B) {
    const COUNT: usize = A::COUNT + B::COUNT;

    fn names() -> Vec<String> {
        within::<A>(".first").chain(within::<B>(".second")).collect()
    }

    fn changed(self, way: usize) -> Self {
        let mut turn = Turn::new(way);
        (turn.change(self.0), turn.change(self.1))
    }

    fn small() -> Vec<Self> {
        let second = |a: A| B::small().into_iter().map(move |b| (a.clone(), b));
        A::small().into_iter().flat_map(second).collect()
    }
}

/// Something of which lists are small values.
pub trait Listed: Clone + 'static {
    /// Small lists of it.
    const LISTS: &'static [&'static [Self]];
}

impl Listed for u8 {
    const LISTS: &'static [&'static [Self]] =
        &[&[], &[1], &[2], &[3], &[1, 2], &[1, 3], &[2, 3], &[1, 2, 3]];
}

impl Listed for (u8, Option<u8>) {
    const LISTS: &'static [&'static [Self]] =
        &[&[], &[(1, None)], &[(1, Some(1))], &[(1, Some(1)), (2, Some(2))], &[(2, Some(3))]];
}

const fn start(epoch: u8, offset: u8) -> EpochStart {
    EpochStart { epoch, offset }
}

impl Listed for EpochStart {
    const LISTS: &'static [&'static [Self]] = &[
        &[],
        &[start(0, 0)],
        &[start(1, 0)],
        &[start(1, 1)],
        &[start(0, 0), start(1, 1)],
        &[start(0, 0), start(2, 1)],
        &[start(0, 0), start(2, 2)],
        &[start(1, 0), start(2, 1)],
        &[start(1, 0), start(3, 2)],
        &[start(0, 0), start(1, 1), start(2, 2)],
        &[start(0, 0), start(1, 1), start(3, 2)],
    ];
}

const fn record(epoch: u8, value: u8) -> Record {
    Record { epoch, value }
}

impl Listed for Record {
    const LISTS: &'static [&'static [Self]] = &[
        &[],
        &[record(0, 0)],
        &[record(1, 0)],
        &[record(0, 0), record(1, 1)],
        &[record(1, 0), record(1, 1)],
        &[record(1, 0), record(2, 1)],
        &[record(0, 0), record(1, 1), record(2, 2)],
    ];
}

impl<T: Listed> Ways for &[T] {
    const COUNT: usize = 3;

    fn names() -> Vec<String> {
        named(["empty", "without-first", "without-last"])
    }

    fn changed(self, way: usize) -> Self {
        let but_one = self.len().saturating_sub(1);
        [&[][..], &self[self.len().min(1)..], &self[..but_one]][way]
    }

    fn small() -> Vec<Self> {
        T::LISTS.to_vec()
    }

    fn owned(&self) -> Option<Box<dyn Any>> {
        Some(Box::new(self.to_vec()))
    }
}

impl<T: Listed> Ways for Vec<T> {
    const COUNT: usize = <&[T]>::COUNT;

    fn names() -> Vec<String> {
        <&[T]>::names()
    }

    fn changed(self, way: usize) -> Self {
        self[..].changed(way).to_vec()
    }

    fn small() -> Vec<Self> {
        T::LISTS.iter().map(|list| list.to_vec()).collect()
    }

    fn owned(&self) -> Option<Box<dyn Any>> {
        Some(Box::new(self.clone()))
    }
}
