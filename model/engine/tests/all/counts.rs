//! What is known of every sample model, counted by the naive search, in one table.

use std::fmt::Debug;
use std::hash::Hash;

use levelwise::samples::{
    Wire, beacons, dice, election, grid, jugs, mutex, parcels, relay, slide, tickets, tides,
};
use stateright::Model;
use stateright::actor::{Actor, ActorModel};

use crate::defect;
use crate::naive::{Counts, Found, search, stateright_counts};

/// What is known of a model.
#[derive(Clone, Debug)]
pub struct Known {
    /// The model and its parameters.
    pub name: String,
    /// Where the search ends.
    pub max_depth: Option<usize>,
    /// What is counted.
    pub counts: Counts,
    /// For each property of the model, in its order, the states on a shortest path to where it is
    /// violated or witnessed, if it is.
    pub firsts: [Option<usize>; 3],
    /// Whether stateright's hashes tell the states apart.
    pub told_apart: bool,
}

impl Known {
    /// A model that is searched to its end. A first of 0 is none.
    fn new(model: &str, setup: &impl Debug, counts: [usize; 3], firsts: [usize; 3]) -> Self {
        let [unique, generated, depth] = counts;
        Self {
            name: format!("{model}: {setup:?}"),
            max_depth: None,
            counts: Counts { unique, generated, depth },
            firsts: firsts.map(|depth| Some(depth).filter(|depth| *depth > 0)),
            told_apart: true,
        }
    }

    /// Searched to the depth that was counted, although there is more.
    fn cut(self) -> Self {
        Self { max_depth: Some(self.counts.depth), ..self }
    }

    fn told_apart(self, told_apart: bool) -> Self {
        Self { told_apart, ..self }
    }

    /// What an exact search finds.
    pub fn found<M: Model>(&self, model: &M) -> Found {
        let properties = model.properties();
        assert_eq!(properties.len(), self.firsts.len(), "{}", self.name);
        let firsts = properties.iter().zip(self.firsts);
        let firsts = firsts.filter_map(|(property, first)| Some((property.name, first?)));
        Found { counts: self.counts, firsts: firsts.collect() }
    }
}

/// One who is handed every sample model.
pub trait Judge {
    /// Gets a model that is no actor model.
    fn plain<M>(&mut self, known: &Known, model: M)
    where
        M: Model + Clone + Debug + Send + Sync + 'static,
        M::State: Clone + Debug + Ord + Hash + Send + Sync,
        M::Action: Clone + Debug + Ord + Hash + Send + Sync;

    /// Gets an actor model.
    fn actors<A, C, H>(&mut self, known: &Known, model: ActorModel<A, C, H>)
    where
        A: Actor + Clone + Debug + Send + Sync + 'static,
        A::Msg: Ord + Send + Sync,
        A::Timer: Ord + Send + Sync,
        A::State: Ord + Send + Sync,
        A::Storage: Ord + Send + Sync,
        A::Random: Send + Sync,
        C: Clone + Debug + Send + Sync + 'static,
        H: Clone + Debug + Ord + Hash + Send + Sync + 'static;
}

/// Hands over every sample model that takes no longer than a second.
pub fn each(judge: &mut impl Judge) {
    of_beacons(judge);
    of_tickets(judge);
    of_parcels(judge);
    of_relay(judge);
    of_dice(judge);
    of_tides(judge);
    of_election(judge);
    of_plain(judge);
}

/// Hands over what has more than a million states.
pub fn each_large(judge: &mut impl Judge) {
    let setup = election::Setup::large();
    let known = Known::new("election", &setup, [1_317_869, 4_983_115, 27], [0, 7, 8]);
    judge.actors(&known, election::model(&setup));
    let setup = election::Setup::three(2, 1);
    let known = Known::new("election", &setup, [1_394_150, 3_957_646, 14], [0, 7, 8]);
    judge.actors(&known.cut(), election::model(&setup));
}

fn of_beacons(judge: &mut impl Judge) {
    // Tags make no difference to what there is, only to what stateright sees.
    let rows = [
        (2, Wire::Duplicating, false, [568, 2393, 12], [0, 4, 7]),
        (2, Wire::Duplicating, true, [4900, 24221, 16], [0, 4, 7]),
        // The stations do not disturb each other: 24 states for each.
        (2, Wire::NonDuplicating, false, [24 * 24, 2017, 13], [0, 4, 7]),
        (3, Wire::NonDuplicating, false, [24 * 24 * 24, 72577, 19], [0, 4, 10]),
        (2, Wire::NonDuplicating, true, [1600, 7681, 13], [0, 4, 7]),
        (2, Wire::Ordered, false, [1024, 3585, 17], [0, 4, 7]),
        (2, Wire::Ordered, true, [1600, 8321, 13], [0, 4, 7]),
    ];
    for (stations, wire, lossy, counts, firsts) in rows {
        for tagged in [true, false] {
            let setup = beacons::Setup { stations, rounds: 1, patience: 1, tagged, wire, lossy };
            let known = Known::new("beacons", &setup, counts, firsts).told_apart(tagged);
            judge.actors(&known, beacons::model(&setup));
        }
    }
}

fn of_tickets(judge: &mut impl Judge) {
    let rows = [
        // Of two tickets, none, one or two have been asked for, and any of those have come.
        (0, true, [(1 + 2 + 4) * (1 + 2 + 4), 113, 9], [0, 9, 1]),
        (0, false, [49, 113, 9], [0, 9, 1]),
        (1, true, [8464, 25393, 18], [0, 9, 2]),
        (1, false, [4624, 12241, 18], [7, 9, 2]),
        (2, true, [14812, 55017, 19], [0, 9, 3]),
        (2, false, [8092, 27881, 19], [7, 9, 3]),
    ];
    for (crashes, careful, counts, firsts) in rows {
        let setup = tickets::Setup { machines: 2, wanted: 2, crashes, careful };
        let known = Known::new("tickets", &setup, counts, firsts);
        judge.actors(&known, tickets::model(&setup));
    }
}

fn of_parcels(judge: &mut impl Judge) {
    let rows = [
        (2, 3, Wire::Duplicating, false, [5433, 24355, 16], [3, 5, 8]),
        (1, 3, Wire::Duplicating, true, [1752, 5357, 13], [3, 5, 5]),
        (2, 2, Wire::Duplicating, true, [7240, 28149, 17], [0, 4, 6]),
        // The doors do not disturb each other.
        (2, 3, Wire::NonDuplicating, false, [22 * 22, 1365, 13], [3, 0, 13]),
        (3, 3, Wire::NonDuplicating, false, [22 * 22 * 22, 45013, 19], [3, 0, 19]),
        (2, 3, Wire::NonDuplicating, true, [11040, 50649, 14], [3, 0, 13]),
        (2, 3, Wire::Ordered, false, [10 * 10, 241, 13], [0, 0, 13]),
        (3, 3, Wire::Ordered, false, [10 * 10 * 10, 3601, 19], [0, 0, 19]),
        (2, 3, Wire::Ordered, true, [3150, 11872, 14], [0, 0, 13]),
    ];
    for (doors, parcels, wire, lossy, counts, firsts) in rows {
        // Where nothing gets lost, a parcel that went astray lies there for ever.
        let setup = parcels::Setup { doors, parcels, astray: true, wire, lossy };
        let known = Known::new("parcels", &setup, counts, firsts);
        judge.actors(&known, parcels::model(&setup));
    }
}

fn of_relay(judge: &mut impl Judge) {
    let rows = [
        (3, 2, 3, 0, false, [1121, 2743, 13], [0, 3, 7]),
        (3, 2, 3, 0, true, [11056, 37501, 13], [0, 3, 7]),
        (2, 3, 2, 0, false, [3139, 6643, 13], [0, 4, 7]),
        (2, 3, 2, 0, true, [27668, 85321, 13], [0, 4, 7]),
        (2, 1, 2, 1, false, [4695, 11221, 18], [0, 2, 3]),
    ];
    for (runners, teams, legs, falls, lossy, counts, firsts) in rows {
        let setup = relay::Setup { runners, teams, legs, falls, lossy };
        let known = Known::new("relay", &setup, counts, firsts);
        judge.actors(&known, relay::model(&setup));
    }
}

fn of_dice(judge: &mut impl Judge) {
    let rows = [(0, [1220, 4357, 9], [0, 5, 5]), (1, [14112, 79069, 15], [0, 5, 5])];
    for (asleep, counts, firsts) in rows {
        for tagged in [true, false] {
            let setup = dice::Setup { players: 2, throws: 2, sides: 3, tagged, asleep };
            let known = Known::new("dice", &setup, counts, firsts).told_apart(tagged);
            judge.actors(&known, dice::model(&setup));
        }
    }
}

fn of_tides(judge: &mut impl Judge) {
    let rows = [
        (Wire::Duplicating, [195, 461, 7], [0, 6, 3]),
        (Wire::NonDuplicating, [2536, 4145, 11], [0, 6, 3]),
    ];
    for (wire, counts, firsts) in rows {
        let setup = tides::Setup { neighbours: 3, highest: 6, crowd: 12, wire };
        let known = Known::new("tides", &setup, counts, firsts);
        judge.actors(&known, tides::model(&setup));
    }
    let setup = tides::Setup { neighbours: 3, highest: 5, crowd: 8, wire: Wire::Ordered };
    let known = Known::new("tides", &setup, [1552, 4243, 19], [0, 5, 3]);
    judge.actors(&known, tides::model(&setup));
}

fn of_election(judge: &mut impl Judge) {
    let three = election::Setup::three;
    let two = election::Setup { servers: 2, ..three(2, 0) };
    let calm = election::Setup { crashes: 0, ..three(2, 0) };
    let duplicating = election::Setup { wire: Wire::Duplicating, ..three(1, 0) };
    let ordered = election::Setup { wire: Wire::Ordered, ..three(1, 1) };
    let whole = [
        (two, [1047, 2357, 16], [0, 0, 6]),
        (calm, [34470, 100_531, 17], [0, 7, 8]),
        (three(1, 0), [4116, 11980, 16], [0, 0, 8]),
        (three(1, 1), [66948, 226_810, 20], [0, 0, 8]),
        (duplicating, [8412, 43966, 15], [0, 0, 8]),
        (ordered, [41016, 160_516, 22], [0, 0, 10]),
    ];
    for (setup, counts, firsts) in whole {
        let known = Known::new("election", &setup, counts, firsts);
        judge.actors(&known, election::model(&setup));
    }
    let lossy = election::Setup { lossy: true, ..three(1, 0) };
    // Votes given again and again pile up without end.
    let forgetful = election::Setup { forgetful: true, ..three(1, 0) };
    let both = election::Setup { wire: Wire::Ordered, lossy: true, ..forgetful.clone() };
    let cut = [
        (lossy, [19962, 82882, 11], [0, 0, 8]),
        (forgetful, [10857, 26665, 11], [9, 9, 8]),
        (both, [31080, 123_016, 11], [9, 9, 9]),
        (three(2, 1), [27744, 65911, 9], [0, 7, 8]),
    ];
    for (setup, counts, firsts) in cut {
        let known = Known::new("election", &setup, counts, firsts).cut();
        judge.actors(&known, election::model(&setup));
    }
}

fn of_plain(judge: &mut impl Judge) {
    // The third one leaves out the corner beyond the sum.
    let grids = [
        (4, 0, u32::MAX, [1, 1, 1], [0, 1, 1]),
        (3, 9, u32::MAX, [1000, 2701, 28], [0, 10, 28]),
        (3, 9, 13, [500, 1246, 14], [0, 10, 0]),
    ];
    for (counters, top, sum, counts, firsts) in grids {
        let model = grid::Grid { counters, top, sum };
        judge.plain(&Known::new("grid", &model, counts, firsts), model);
    }
    for (useless, counts) in [(false, [16, 59, 8]), (true, [16, 1 + 16 * 6, 8])] {
        let model = jugs::Jugs { sizes: [3, 5], wanted: 4, useless };
        judge.plain(&Known::new("jugs", &model, counts, [0, 3, 7]), model);
    }
    let slides = [(3, 2, [360, 841, 22], [0, 4, 15]), (3, 3, [181_440, 483_841, 32], [0, 5, 31])];
    for (width, height, counts, firsts) in slides {
        let model = slide::Slide { width, height };
        judge.plain(&Known::new("slide", &model, counts, firsts), model);
    }
    let mutexes = [
        (true, true, [20, 36, 6], [0, 0, 6]),
        (true, false, [32, 66, 9], [7, 0, 6]),
        (false, true, [30, 50, 6], [0, 5, 6]),
        (false, false, [32, 66, 7], [7, 0, 6]),
    ];
    for (polite, careful, counts, firsts) in mutexes {
        let model = mutex::Mutex { polite, careful };
        judge.plain(&Known::new("mutex", &model, counts, firsts), model);
    }
}

/// Judges the naive search, by what it once counted.
struct Naive;

impl Naive {
    fn judge<M: Model>(known: &Known, model: &M)
    where
        M::State: PartialEq + Hash,
    {
        assert_eq!(search(model, known.max_depth), known.found(model), "{}", known.name);
    }
}

impl Judge for Naive {
    fn plain<M>(&mut self, known: &Known, model: M)
    where
        M: Model,
        M::State: PartialEq + Hash,
    {
        Self::judge(known, &model);
    }

    fn actors<A, C, H>(&mut self, known: &Known, model: ActorModel<A, C, H>)
    where
        A: Actor,
        A::Msg: Ord,
        A::Timer: Ord,
        H: Clone + Debug + PartialEq + Hash,
    {
        Self::judge(known, &model);
    }
}

/// Judges stateright: how many states it missed.
struct Stateright {
    mended: bool,
    missed: usize,
}

impl Stateright {
    fn judge<M>(&mut self, known: &Known, model: M)
    where
        M: Model + Send + Sync + 'static,
        M::State: Clone + PartialEq + Hash + Send + Sync,
        M::Action: Clone + PartialEq,
    {
        let counts = stateright_counts(model, known.max_depth);
        if known.told_apart || self.mended {
            assert_eq!(counts, known.counts, "{}", known.name);
        } else {
            assert!(counts.unique < known.counts.unique, "{}", known.name);
            assert!(counts.generated < known.counts.generated, "{}", known.name);
            self.missed += known.counts.unique - counts.unique;
        }
    }
}

impl Judge for Stateright {
    fn plain<M>(&mut self, known: &Known, model: M)
    where
        M: Model + Send + Sync + 'static,
        M::State: Clone + PartialEq + Hash + Send + Sync,
        M::Action: Clone + PartialEq,
    {
        self.judge(known, model);
    }

    fn actors<A, C, H>(&mut self, known: &Known, model: ActorModel<A, C, H>)
    where
        A: Actor + Send + Sync + 'static,
        A::Msg: Ord + Send + Sync,
        A::Timer: Ord + Send + Sync,
        A::State: Send + Sync,
        A::Storage: Send + Sync,
        A::Random: Send + Sync,
        C: Send + Sync + 'static,
        H: Clone + Debug + PartialEq + Hash + Send + Sync + 'static,
    {
        self.judge(known, model);
    }
}

#[test]
fn the_naive_search_finds_what_is_known() {
    each(&mut Naive);
}

#[test]
fn stateright_counts_the_same_where_its_hashes_tell_states_apart() {
    let mut stateright = Stateright { mended: defect::is_mended(), missed: 0 };
    each(&mut stateright);
    assert_eq!(stateright.mended, stateright.missed == 0);
}

#[test]
#[ignore = "takes more than a minute, and 4 GB"]
fn all_agree_on_more_than_a_million_states() {
    each_large(&mut Naive);
    each_large(&mut Stateright { mended: defect::is_mended(), missed: 0 });
}
