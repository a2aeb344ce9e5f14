//! The ways of what rules are told and what they say: structs field by field, enums by variant.

use std::any::Any;
use std::sync::LazyLock;

use klog_trace::EpochStart;
use klog_trace::action::{Acks, Node};
use klog_trace::view::{BrokerState, Heard, Outcome, Progress, Proposal, Session, Waiting};

use super::ways::{Turn, Ways, within};
use crate::rules::leader::epoch_end;
use crate::rules::{
    Admission, AnswerTaken, Candidate, Checked, Counting, Diverged, Fate, IsrChange, Join,
    LeaderLog, ProposalFacts,
};

/// Runs a block for all small values of some names.
macro_rules! for_small {
    ([] $body:block) => { $body };
    ([$name:ident: $kind:ty, $($rest:tt)*] $body:block) => {
        for $name in <$kind as $crate::mutants::ways::Ways>::small() {
            $crate::mutants::facts::for_small!([$($rest)*] $body)
        }
    };
}

pub(crate) use for_small;

/// A struct: every field in its ways.
macro_rules! fields {
    ($kind:ident $(<$life:lifetime>)? { $($field:ident: $of:ty,)* } $($more:tt)*) => {
        impl $(<$life>)? Ways for $kind $(<$life>)? {
            const COUNT: usize = 0 $(+ <$of>::COUNT)*;

            fn names() -> Vec<String> {
                let names = std::iter::empty();
                $(let names = names.chain(within::<$of>(concat!(".", stringify!($field))));)*
                names.collect()
            }

            fn changed(self, way: usize) -> Self {
                let mut turn = Turn::new(way);
                $(let $field = turn.change(self.$field);)*
                Self { $($field),* }
            }

            fn small() -> Vec<Self> {
                let mut all = Vec::new();
                for_small!([$($field: $of,)*] { all.push(Self { $($field),* }); });
                all
            }

            $($more)*
        }
    };
}

/// An enum: always this variant, for each of them.
macro_rules! variants {
    ($kind:ident { $($name:literal = $value:expr,)* }) => {
        impl Ways for $kind {
            const COUNT: usize = Self::VALUES.len();

            fn names() -> Vec<String> {
                [$(concat!("/", $name)),*].map(String::from).to_vec()
            }

            fn changed(self, way: usize) -> Self {
                Self::VALUES[way]
            }

            fn small() -> Vec<Self> {
                Self::VALUES.to_vec()
            }
        }

        impl Variants for $kind {
            const VALUES: &'static [Self] = &[$($value),*];
        }
    };
}

/// A type whose values are left as they are, with its small values.
macro_rules! unchanged {
    ($kind:ty: $small:expr) => {
        impl Ways for $kind {
            const COUNT: usize = 0;

            fn names() -> Vec<String> {
                Vec::new()
            }

            fn changed(self, _: usize) -> Self {
                self
            }

            fn small() -> Vec<Self> {
                $small
            }
        }
    };
}

/// The values that an enum is changed to.
trait Variants: Sized + 'static {
    const VALUES: &'static [Self];
}

fields! { EpochStart { epoch: u8, offset: u8, } }
fields! { BrokerState { epoch: u8, state: Session, } }
fields! { Waiting { offset: u8, value: u8, epoch: u8, } }
fields! { Heard { caught_up: bool, previous: Option<u8>, } }
fields! {
    Progress { broker: Node, leo: Option<u8>, broker_epoch: Option<u8>, heard: Option<Heard>, }
    fn owned(&self) -> Option<Box<dyn Any>> {
        Some(Box::new(*self))
    }
}
fields! { Join { follower: Progress, known: BrokerState, hw: u8, epoch_start: u8, } }
fields! {
    Counting<'a> {
        follower: Progress, maximal: &'a [Node], known: Option<BrokerState>, caught_up: bool,
    }
}
fields! {
    IsrChange<'a> {
        isr: &'a [Node], elr: &'a [Node], target: &'a [Node], unclean: &'a [Node], min_isr: u8,
    }
}
fields! {
    ProposalFacts {
        sender_lives: bool, epoch_is_current: bool, sender_leads: bool, version_is_current: bool,
        sender_is_member: bool, members_are_active: bool, members_live: bool,
    }
}
fields! { Candidate { in_isr: bool, in_elr: bool, isr_is_empty: bool, is_active: bool, } }
fields! { LeaderLog<'a> { cache: &'a [EpochStart], leo: u8, epoch_end: EpochEnd, } }

variants! {
    Session {
        "active" = Self::Active, "fenced" = Self::Fenced, "shutting-down" = Self::ShuttingDown,
    }
}
variants! { Acks { "none" = Self::None, "leader" = Self::Leader, "all" = Self::All, } }
variants! {
    Admission {
        "append" = Self::Append, "refuse" = Self::Refuse(19),
        "append-and-refuse" = Self::AppendAndRefuse(20),
    }
}
variants! {
    Checked {
        "good" = Self::Good, "diverging" = Self::Diverging(EpochStart { epoch: 0, offset: 0 }),
        "out-of-range" = Self::OutOfRange, "refused" = Self::Refused(6),
    }
}
variants! {
    AnswerTaken { "none" = Self::None, "changed" = Self::Changed, "empty" = Self::Empty, }
}
variants! {
    Diverged {
        "cut-at-once" = Self::CutAtOnce, "cut-later-at-0" = Self::CutLater(0),
        "cut-later-at-1" = Self::CutLater(1),
    }
}
variants! { Fate { "void" = Self::Void, "unknown" = Self::Unknown, "again" = Self::Again, } }

type EpochEnd = fn(cache: &[EpochStart], leo: u8, asked: u8) -> Option<EpochStart>;

static PROPOSALS: LazyLock<Vec<Proposal>> = LazyLock::new(|| {
    let of = |isr| Proposal { isr, outcome: Outcome::Open };
    Vec::small().into_iter().map(of).collect()
});

// A rule of its own, with mutants of its own.
unchanged! { EpochEnd: vec![epoch_end] }
// Only whether there is one is changed.
unchanged! { &Proposal: PROPOSALS.iter().collect() }
