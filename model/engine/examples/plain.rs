//! Somebody else's plain model, checked as it is: `cargo run -p levelwise --example plain`.

use levelwise::{Kept, Options, check};
use stateright::Checker;
use stateright::report::WriteReporter;

/// What somebody else wrote.
mod theirs {
    use stateright::{Model, Property};

    /// Two clerks each read a number, and then write back one more.
    pub struct Clerks;

    impl Model for Clerks {
        /// The number, what each clerk has read, and who is done.
        type State = (u8, [Option<u8>; 2], [bool; 2]);
        /// Which clerk goes on.
        type Action = usize;

        fn init_states(&self) -> Vec<Self::State> {
            vec![(0, [None; 2], [false; 2])]
        }

        fn actions(&self, (_, _, done): &Self::State, actions: &mut Vec<usize>) {
            actions.extend((0..2).filter(|clerk| !done[*clerk]));
        }

        fn next_state(&self, state: &Self::State, clerk: usize) -> Option<Self::State> {
            let (mut number, mut read, mut done) = *state;
            match read[clerk] {
                None => read[clerk] = Some(number),
                Some(seen) => (number, done[clerk]) = (seen + 1, true),
            }
            Some((number, read, done))
        }

        fn properties(&self) -> Vec<Property<Self>> {
            let both_done = |_: &Self, state: &Self::State| state.2 == [true; 2];
            let lost = |_: &Self, state: &Self::State| state.2 == [true; 2] && state.0 < 2;
            vec![
                Property::sometimes("an update is lost", lost),
                Property::eventually("both come to an end", both_done),
            ]
        }
    }
}

fn main() {
    let space = Kept::new(theirs::Clerks, 0);
    let checked = check(&space, &Options { threads: 2, ..Options::default() });
    let checked = checked.report(&mut WriteReporter::new(&mut std::io::stdout()));
    for (name, answer) in checked.eventually() {
        println!("\"{name}\": {}", if answer.holds() { "holds" } else { "does not hold" });
    }
    assert!(checked.is_done());
    checked.assert_discovery("an update is lost", vec![0, 1, 0, 1]);
    checked.assert_properties();
}
