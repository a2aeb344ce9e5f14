//! Every committed trace, on memory and on real files.

use klog::disk::{FsDisk, MemDisk};
use klog_conform::adapter::Storage;
use klog_conform::replay::{Doomed, Replayed, replay};
use klog_trace::Expect;

use crate::support::{Named, committed};

fn replay_on<D: Storage>(Named { name, trace }: &Named) -> Replayed {
    let done = replay::<D>(trace, Doomed::Once);
    done.unwrap_or_else(|failure| panic!("{}", failure.report(name, D::NAME)))
}

fn shows_what_it_must<D: Storage>(named: &Named) {
    let done = replay_on::<D>(named);
    let (steps, parted) = match &named.trace.header.expect {
        Expect::Conform => (named.trace.steps.len(), None),
        Expect::Diverge(predicted) => (predicted.step, Some(predicted.step)),
    };
    assert_eq!((done.steps, done.parted), (steps, parted), "{}", named.name);
}

#[test]
fn every_trace_replays_on_memory() {
    committed().iter().for_each(shows_what_it_must::<MemDisk>);
}

#[test]
fn every_trace_replays_on_real_files() {
    committed().iter().for_each(shows_what_it_must::<FsDisk>);
}

#[test]
fn two_replays_are_the_same() {
    for named in committed() {
        let runs = [(); 2].map(|()| replay_on::<MemDisk>(&named));
        assert_eq!(runs[0], runs[1], "{}", named.name);
    }
}
