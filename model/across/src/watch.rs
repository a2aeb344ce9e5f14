//! Who watches whether all go on, and what went wrong first.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::net::Net;

/// Why a search on several workers did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The connection to a process is gone.
    #[error(
        "process {process} ({address}) was lost: {why}; what was found until then is known, the \
         rest is not; start all processes again"
    )]
    Lost {
        /// Which.
        process: usize,
        /// Where it is.
        address: String,
        /// How it was noticed.
        why: String,
    },
    /// A process says that it can't go on.
    #[error("process {process} ({address}) gave up: {why}")]
    GaveUp {
        /// Which.
        process: usize,
        /// Where it is.
        address: String,
        /// What it said.
        why: String,
    },
    /// This process has a team, and never searched.
    #[error("it left before the search")]
    Left,
    /// A worker of this process panicked.
    #[error("this process failed: {0}; please report it")]
    Broken(String),
    /// Fingerprints depend on which process made them.
    #[error(
        "process {process} has states that are unequal and hash alike, so the processes can't \
         agree on fingerprints; make the model's `Hash` tell its values apart"
    )]
    Unrepeatable {
        /// Which.
        process: usize,
    },
    /// What arrived is no state of this space.
    #[error(
        "process {process} was sent what is no state of its space; start all processes from the \
         same build, with the same flags"
    )]
    Garbled {
        /// Which.
        process: usize,
    },
}

/// What the threads of a process share.
#[derive(Debug, Default)]
pub struct Watch {
    troubled: AtomicBool,
    inside: Mutex<Inside>,
    changed: Condvar,
    /// The connections, if there are other processes.
    pub net: Option<Net>,
}

#[derive(Debug, Default)]
struct Inside {
    trouble: Option<Trouble>,
    workers: usize,
}

impl Watch {
    pub fn over(net: Option<Net>) -> Arc<Self> {
        Arc::new(Self { net, ..Self::default() })
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something went wrong; the first counts.
    pub fn trouble(&self, trouble: Trouble) {
        self.inside().trouble.get_or_insert(trouble);
        self.troubled.store(true, SeqCst);
    }

    /// A worker of this process panicked.
    pub fn broke(&self, why: &str) {
        self.trouble(Trouble::Broken(why.to_owned()));
    }

    /// Whether something went wrong.
    pub fn is_troubled(&self) -> bool {
        self.troubled.load(SeqCst)
    }

    /// What went wrong first.
    pub fn first_trouble(&self) -> Option<Trouble> {
        self.inside().trouble.clone()
    }

    /// So many workers are about to begin.
    pub fn expect_workers(&self, workers: usize) {
        self.inside().workers = workers;
    }

    /// Waits until no worker is left that could be disturbed.
    pub fn wait_for_workers(&self) {
        let left = self.changed.wait_while(self.inside(), |inside| inside.workers > 0);
        drop(left);
    }

    /// Takes leave of the other processes: `well` if all is known here.
    pub fn part(&self, well: bool) {
        let Some(net) = &self.net else { return };
        if well {
            net.wait_until_closed(self);
        } else {
            let trouble = self.first_trouble().map(|trouble| trouble.to_string());
            net.give_up(&trouble.unwrap_or_default());
        }
        net.end();
    }
}

/// Tells when a worker leaves, and whether it panicked.
pub struct Leaves(Arc<Watch>);

impl Leaves {
    pub fn new(watch: &Arc<Watch>) -> Self {
        Self(Arc::clone(watch))
    }
}

impl Drop for Leaves {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broke("a panic that is none of the model's");
        }
        self.0.inside().workers -= 1;
        self.0.changed.notify_all();
    }
}
