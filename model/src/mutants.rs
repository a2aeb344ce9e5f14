//! Mutants of the specification: each rule with one argument, or its result, changed in one way.
//!
//! They are made from the list of the rules by itself. A mutant that answers as the rule does
//! wherever it is asked changes nothing; every other one should be noticed by the suite
//! ([`judge`]), or there is a reason why it is not ([`survivors`]).

pub mod facts;
pub mod judge;
pub mod page;
pub mod survivors;
pub mod ways;

use crate::rules::Rules;

/// A rule that is changed in one way.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The rule's name.
    pub rule: &'static str,
    /// Rule, place and way: `joins/join.hw/zero`, `fence/result/none`; `readable/result/leo` gives
    /// the argument `leo` for a result.
    pub name: String,
    way: usize,
    put: fn(&mut Rules, usize, Put),
    same: fn(usize) -> bool,
}

/// What is put in the place of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Put {
    /// The mutant.
    Mutant,
    /// The rule itself, which panics with [`DIFFERS`] where the mutant would answer otherwise.
    Watch,
}

/// What a watched rule says when its mutant would answer otherwise.
pub(crate) const DIFFERS: &str = "here the mutant answers otherwise";

/// The most ways that a rule can have.
pub(crate) const MOST: usize = 48;

impl Mutant {
    /// Every mutant of every rule, in the order of the list.
    pub fn all() -> Vec<Self> {
        Rules::mutants()
    }

    /// The mutants of one rule, by the names of its ways; those that cannot be have none.
    pub(crate) fn of_rule(
        rule: &'static str,
        names: Vec<Option<String>>,
        put: fn(&mut Rules, usize, Put),
        same: fn(usize) -> bool,
    ) -> Vec<Self> {
        assert!(names.len() <= MOST, "{rule} has more than {MOST} ways");
        let names = names.into_iter().enumerate();
        let mutant = |(way, name): (usize, Option<String>)| {
            let name = format!("{rule}/{}", name?);
            Some(Self { rule, name, way, put, same })
        };
        names.filter_map(mutant).collect()
    }

    /// The correct rules with this one changed.
    pub fn rules(&self) -> Rules {
        self.with(Put::Mutant)
    }

    fn with(&self, what: Put) -> Rules {
        let mut rules = Rules::correct();
        (self.put)(&mut rules, self.way, what);
        rules
    }

    /// Whether it answers as the rule does to every small question, so that it is none.
    pub fn is_the_rule(&self) -> bool {
        (self.same)(self.way)
    }
}

/// A function for each way, of one that has the way as a constant.
macro_rules! each_way {
    ($f:ident) => {
        each_way!($f 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28
            29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47)
    };
    ($f:ident $($way:literal)*) => { [$($f::<$way>),*] };
}

/// The mutants of one line of the list of rules.
macro_rules! mutants_of {
    ($rule:ident: fn($($arg:ident: $kind:ty),*) -> $result:ty = $correct:path) => {{
        use $crate::mutants::facts::for_small;
        use $crate::mutants::ways::{self, Turn};
        use $crate::mutants::{DIFFERS, MOST, Mutant, Put, each_way};

        // Not copied into the function of each way.
        #[inline(never)]
        fn right($($arg: $kind),*) -> $result {
            $correct($($arg),*)
        }

        #[inline(never)]
        fn changed(way: usize, $($arg: $kind),*) -> $result {
            let mut turn = Turn::new(way);
            $(if let Some(result) = turn.instead(&$arg) {
                return result;
            })*
            $(let $arg = turn.change($arg);)*
            turn.change(right($($arg),*))
        }

        fn mutant<const WAY: usize>($($arg: $kind),*) -> $result {
            changed(WAY, $($arg),*)
        }

        fn watched<const WAY: usize>($($arg: $kind),*) -> $result {
            let answer = right($(Clone::clone(&$arg)),*);
            assert!(changed(WAY, $($arg),*) == answer, "{DIFFERS}");
            answer
        }

        fn put(rules: &mut Rules, way: usize, what: Put) {
            let table: [fn($($arg: $kind),*) -> $result; MOST] = match what {
                Put::Mutant => each_way!(mutant),
                Put::Watch => each_way!(watched),
            };
            rules.$rule = table[way];
        }

        fn same(way: usize) -> bool {
            for_small!([$($arg: $kind,)*] {
                let answer = right($(Clone::clone(&$arg)),*);
                if changed(way, $(Clone::clone(&$arg)),*) != answer {
                    return false;
                }
            });
            true
        }

        let mut names: Vec<Option<String>> = Vec::new();
        $(names.push(ways::can_be::<$kind, $result>().then(|| {
            concat!("result/", stringify!($arg)).to_owned()
        }));)*
        $(names.extend(ways::within::<$kind>(stringify!($arg)).map(Some));)*
        names.extend(ways::within::<$result>("result").map(Some));
        Mutant::of_rule(stringify!($rule), names, put, same)
    }};
}

pub(crate) use {each_way, mutants_of};

#[cfg(test)]
mod tests;
