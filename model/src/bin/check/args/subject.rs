//! Which scenario and protocol, and what is changed of them.

use clap::builder::RangedI64ValueParser;
use clap::{Args as ClapArgs, ValueEnum};
use klog_trace::trace::{self, Bounds};

/// A small number; one that is not among these is answered with their range.
pub fn within(range: std::ops::RangeInclusive<i64>) -> RangedI64ValueParser<u8> {
    clap::value_parser!(u8).range(range)
}

/// Which scenario, which protocol, and what is changed of them.
#[derive(Clone, Debug, ClapArgs)]
pub struct Subject {
    /// The scenario (`check list scenarios`).
    #[arg(long, default_value = "one-crash")]
    pub scenario: String,
    /// The protocol (`check list protocols`).
    #[arg(long, default_value = "klog")]
    pub protocol: String,
    /// Break one more rule (`check list faults`); may be repeated.
    #[arg(long = "fault", value_name = "FAULT")]
    pub faults: Vec<String>,
    /// Number of brokers, 1 to 5.
    #[arg(long, allow_negative_numbers = true, value_parser = within(1..=5))]
    pub brokers: Option<u8>,
    /// `min.insync.replicas`, 1 to 5.
    #[arg(long, allow_negative_numbers = true, value_parser = within(1..=5))]
    pub min_isr: Option<u8>,
    /// Values that clients produce.
    #[arg(long, allow_negative_numbers = true, value_parser = within(0..=20))]
    pub records: Option<u8>,
    /// What producers ask to wait for; may be repeated.
    #[arg(long, value_enum)]
    pub acks: Vec<Acks>,
    /// Leadership moves.
    #[arg(long, allow_negative_numbers = true, value_parser = within(0..=20))]
    pub moves: Option<u8>,
    /// Process crashes.
    #[arg(long, allow_negative_numbers = true, value_parser = within(0..=20))]
    pub crashes: Option<u8>,
    /// Power losses.
    #[arg(long, allow_negative_numbers = true, value_parser = within(0..=20))]
    pub power_losses: Option<u8>,
    /// Clock jumps past the lag limit.
    #[arg(long, allow_negative_numbers = true, value_parser = within(0..=20))]
    pub lag_checks: Option<u8>,
    /// High watermark checkpoints.
    #[arg(long, allow_negative_numbers = true, value_parser = within(0..=20))]
    pub checkpoints: Option<u8>,
    /// Sessions of running brokers that expire.
    #[arg(long, allow_negative_numbers = true, value_parser = within(0..=20))]
    pub fences: Option<u8>,
    /// Controlled shutdowns.
    #[arg(long, allow_negative_numbers = true, value_parser = within(0..=20))]
    pub shutdowns: Option<u8>,
    /// Connections that break between running nodes.
    #[arg(long, allow_negative_numbers = true, value_parser = within(0..=20))]
    pub resets: Option<u8>,
    /// Changes of `min.insync.replicas`.
    #[arg(long, allow_negative_numbers = true, value_parser = within(0..=20))]
    pub min_isr_changes: Option<u8>,
    /// Produces that wait too long.
    #[arg(long, allow_negative_numbers = true, value_parser = within(0..=20))]
    pub timeouts: Option<u8>,
    /// Jumps past the lag limit, with `--clock exact`.
    #[arg(long, allow_negative_numbers = true, value_parser = within(0..=20))]
    pub clock_jumps: Option<u8>,
    /// Times that the clock is set back, with `--clock exact`.
    #[arg(long, allow_negative_numbers = true, value_parser = within(0..=20))]
    pub clock_setbacks: Option<u8>,
    /// Leader epochs that are looked at; 0 for any number.
    #[arg(long, allow_negative_numbers = true, value_parser = within(0..=20))]
    pub leader_epochs: Option<u8>,
    /// How time passes.
    #[arg(long, value_enum)]
    pub clock: Option<Clock>,
    /// What a power loss may leave of a log.
    #[arg(long, value_enum)]
    pub flush: Option<Flush>,
    /// Whether members that left the ISR may be remembered as eligible leaders.
    #[arg(long, value_enum)]
    pub elr: Option<Elr>,
    /// Whether a broker outside ISR and ELR may be elected.
    #[arg(long, value_enum)]
    pub unclean: Option<Unclean>,
    /// Whether a broker may apply several metadata records as one.
    #[arg(long, value_enum)]
    pub metadata: Option<Metadata>,
    /// Whether steps that nobody can tell apart are merged.
    #[arg(long, value_enum)]
    pub interleaving: Option<Interleaving>,
}

/// Declares what can be chosen on the command line, for an enum of klog-trace.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident = $theirs:path { $($(#[$of:meta])* $variant:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
        pub enum $name {
            $($(#[$of])* $variant,)*
        }

        impl From<$name> for $theirs {
            fn from(chosen: $name) -> Self {
                match chosen {
                    $($name::$variant => Self::$variant,)*
                }
            }
        }
    };
}

choice! {
    /// See [`trace::Clock`].
    Clock = trace::Clock {
        /// More than the lag limit may pass between any two steps.
        Slow,
        /// It stands still, but for jumps.
        Exact,
    }
}

choice! {
    /// See [`trace::Flush`].
    Flush = trace::Flush {
        /// Any part of it.
        Any,
        /// Nothing or all of it.
        NoneOrAll,
    }
}

choice! {
    /// See [`trace::Elr`].
    Elr = trace::Elr {
        /// They may.
        On,
        /// They may not.
        Off,
    }
}

choice! {
    /// See [`trace::Unclean`].
    Unclean = trace::Unclean {
        /// Only the last known leader.
        Forbidden,
        /// Any active replica.
        Allowed,
    }
}

choice! {
    /// See [`trace::Metadata`].
    Metadata = trace::Metadata {
        /// Any number.
        Coalesced,
        /// Each by itself.
        OneByOne,
    }
}

choice! {
    /// See [`trace::Interleaving`].
    Interleaving = trace::Interleaving {
        /// Merged.
        Merged,
        /// Every message in a step of its own.
        Full,
    }
}

/// See [`klog_trace::Acks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Acks {
    /// No answer.
    #[value(name = "0")]
    None,
    /// The leader's append.
    #[value(name = "1")]
    Leader,
    /// All of the in-sync set.
    All,
}

impl Subject {
    /// A scenario's bounds with what the flags change of them.
    pub fn change(&self, mut bounds: Bounds) -> Bounds {
        let set = |field: &mut u8, flag: Option<u8>| *field = flag.unwrap_or(*field);
        set(&mut bounds.brokers, self.brokers);
        set(&mut bounds.min_isr, self.min_isr);
        set(&mut bounds.records, self.records);
        set(&mut bounds.moves, self.moves);
        set(&mut bounds.crashes, self.crashes);
        set(&mut bounds.power_losses, self.power_losses);
        set(&mut bounds.lag_checks, self.lag_checks);
        set(&mut bounds.checkpoints, self.checkpoints);
        set(&mut bounds.fences, self.fences);
        set(&mut bounds.shutdowns, self.shutdowns);
        set(&mut bounds.resets, self.resets);
        set(&mut bounds.min_isr_changes, self.min_isr_changes);
        set(&mut bounds.timeouts, self.timeouts);
        set(&mut bounds.clock_jumps, self.clock_jumps);
        set(&mut bounds.clock_setbacks, self.clock_setbacks);
        set(&mut bounds.leader_epochs, self.leader_epochs);
        bounds.clock = self.clock.map_or(bounds.clock, Into::into);
        bounds.flush = self.flush.map_or(bounds.flush, Into::into);
        bounds.elr = self.elr.map_or(bounds.elr, Into::into);
        bounds.unclean = self.unclean.map_or(bounds.unclean, Into::into);
        bounds.metadata = self.metadata.map_or(bounds.metadata, Into::into);
        bounds.interleaving = self.interleaving.map_or(bounds.interleaving, Into::into);
        if !self.acks.is_empty() {
            let acks = self.acks.iter().map(|acks| match acks {
                Acks::None => klog_trace::Acks::None,
                Acks::Leader => klog_trace::Acks::Leader,
                Acks::All => klog_trace::Acks::All,
            });
            bounds.acks = acks.collect();
            bounds.acks.sort_unstable();
            bounds.acks.dedup();
        }
        bounds
    }
}
