//! The text that says what a checkpoint is of, and what was known.

use std::fmt::Write as _;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::{Checkpoint, Unusable};
use crate::outcome::{Counts, Hit};
use crate::space::{Goal, Sort, Space};

const NAME: &str = "levelwise checkpoint ";
/// What stands for a goal that was not hit.
const NONE: &str = "none";
const FORMAT: &str = "levelwise checkpoint 1";
/// Letters of what was found in a file that a message tells.
const SHORT: usize = 60;

/// What must be the same where a search is gone on with: lines, each with what it tells.
#[derive(Clone, Debug)]
pub struct Head {
    lines: Vec<(&'static str, String)>,
    goals: usize,
}

/// A complete level in the other two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// How many states it has.
    pub states: u64,
    /// The checksum of its part of `fingerprints`.
    pub fingerprints: u64,
    /// The checksum of its part of `links`.
    pub links: u64,
}

/// What was counted and found when a level was complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// What was counted.
    pub counts: Counts,
    /// The first hit of each goal.
    pub hits: Vec<Option<Hit>>,
}

/// A name on one line, in ASCII.
fn plain(name: &str) -> String {
    name.escape_default().to_string()
}

/// What was found in a file, as it fits into a message.
fn short(found: &str) -> String {
    let plain = plain(found);
    match plain.get(..SHORT) {
        Some(start) => format!("{start}..."),
        None => plain,
    }
}

fn goal(goal: &Goal) -> String {
    let sort = match goal.sort {
        Sort::Always => "always",
        Sort::Sometimes => "sometimes",
        Sort::Tally => "tally",
    };
    format!("{sort} {}", plain(&goal.name))
}

impl Head {
    /// Of a search of this space for these goals.
    pub fn new<S: Space>(space: &S, wanted: u64, checkpoint: &Checkpoint) -> Self {
        let mut lines = vec![
            ("identity", plain(&checkpoint.identity)),
            ("seed", hex(space.seed())),
            ("wanted", hex(wanted)),
        ];
        let goals = space.goals();
        lines.extend(goals.iter().map(|it| ("goal", goal(it))));
        lines.extend(space.kinds().iter().map(|name| ("kind", plain(name))));
        lines.extend(space.guards().iter().map(|name| ("guard", plain(name))));
        Self { lines, goals: goals.len() }
    }

    fn count(&self, what: &str) -> usize {
        self.lines.iter().filter(|line| line.0 == what).count()
    }

    /// The manifest of a checkpoint.
    pub fn render(&self, moment: &Moment, levels: &[Level]) -> String {
        let mut text = format!("{FORMAT}\n");
        for (what, value) in &self.lines {
            line(&mut text, what, value);
        }
        let Counts { generated, left_bounds, kinds, refused, tallies } = &moment.counts;
        line(&mut text, "generated", generated);
        line(&mut text, "left_bounds", left_bounds);
        for (what, counters) in [("kinds", kinds), ("refused", refused), ("tallies", tallies)] {
            let counters: Vec<String> = counters.iter().map(u64::to_string).collect();
            line(&mut text, what, counters.join(" "));
        }
        for hit in &moment.hits {
            line(&mut text, "hit", hit.map_or(NONE.to_owned(), show_hit));
        }
        for Level { states, fingerprints, links } in levels {
            line(&mut text, "level", format!("{states} {} {}", hex(*fingerprints), hex(*links)));
        }
        let check = xxh3_64(text.as_bytes());
        line(&mut text, "check", hex(check));
        text
    }

    /// Reads a manifest that is to be of this search.
    pub fn read(&self, bytes: &[u8], file: &Path) -> Result<(Moment, Vec<Level>), Unusable> {
        let text = sound(bytes, file)?;
        let mut lines = Lines { file, rest: text.lines(), number: 1 };
        lines.rest.next();
        for (what, expected) in &self.lines {
            let got = lines.raw()?;
            if got.split_once(' ') != Some((what, expected)) {
                let (file, got) = (file.to_owned(), got.to_owned());
                let (what, expected) = ((*what).to_owned(), format!("{what} {expected}"));
                return Err(Unusable::Foreign { file, what, expected, got });
            }
        }
        let counts = Counts {
            generated: lines.value("generated", |value| value.parse().ok())?,
            left_bounds: lines.value("left_bounds", |value| value.parse().ok())?,
            kinds: lines.value("kinds", |value| counters(value, self.count("kind")))?,
            refused: lines.value("refused", |value| counters(value, self.count("guard")))?,
            tallies: lines.value("tallies", |value| counters(value, self.goals))?,
        };
        let hit = |text: &str| if text == NONE { Some(None) } else { read_hit(text).map(Some) };
        let hits = (0..self.goals).map(|_| lines.value("hit", hit));
        let hits = hits.collect::<Result<_, _>>()?;
        let mut levels = Vec::new();
        while lines.rest.clone().next().is_some_and(|line| !line.starts_with("check ")) {
            levels.push(lines.value("level", read_level)?);
        }
        Ok((Moment { counts, hits }, levels))
    }
}

fn line(text: &mut String, what: &str, value: impl std::fmt::Display) {
    writeln!(text, "{what} {value}").expect("a string takes all");
}

/// The text, if it is of this format and its last line has the checksum of all before.
fn sound<'a>(bytes: &'a [u8], file: &Path) -> Result<&'a str, Unusable> {
    let damaged = |what: &str, expected: String, got: String| Unusable::Damaged {
        file: file.to_owned(),
        what: what.to_owned(),
        expected,
        got,
    };
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if first != FORMAT.as_bytes() {
        let (expected, got) = (FORMAT.to_owned(), short(&String::from_utf8_lossy(first)));
        let version = got.strip_prefix(NAME).and_then(|version| version.parse::<u32>().ok());
        return Err(match version {
            Some(_) => Unusable::Version { file: file.to_owned(), expected, got },
            None => damaged("its first line", expected, got),
        });
    }
    let last = format!("check {}\n", hex(0)).len();
    let (body, got) = bytes.split_at(bytes.len().saturating_sub(last));
    let expected = format!("check {}\n", hex(xxh3_64(body)));
    if got != expected.as_bytes() {
        let got = String::from_utf8_lossy(got);
        let got = got.lines().last().unwrap_or_default();
        return Err(damaged("its checksum", expected.trim_end().to_owned(), short(got)));
    }
    std::str::from_utf8(bytes)
        .map_err(|e| damaged("its text", "UTF-8".to_owned(), plain(&e.to_string())))
}

/// The lines of a manifest, one after the other.
struct Lines<'a> {
    file: &'a Path,
    rest: std::str::Lines<'a>,
    number: usize,
}

impl<'a> Lines<'a> {
    fn raw(&mut self) -> Result<&'a str, Unusable> {
        self.number += 1;
        self.rest.next().ok_or_else(|| self.wrong("a line", "the end"))
    }

    fn value<T>(
        &mut self,
        what: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, Unusable> {
        let line = self.raw()?;
        let value = line.split_once(' ').filter(|(name, _)| *name == what);
        value.and_then(|(_, value)| read(value)).ok_or_else(|| self.wrong(what, line))
    }

    fn wrong(&self, expected: &str, got: &str) -> Unusable {
        Unusable::Damaged {
            file: self.file.to_owned(),
            what: format!("line {}", self.number),
            expected: format!("`{expected}`"),
            got: format!("`{}`", short(got)),
        }
    }
}

/// A number of fixed length.
pub fn hex(number: u64) -> String {
    format!("{number:016x}")
}

fn read_hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok()
}

fn counters(text: &str, count: usize) -> Option<Vec<u64>> {
    let all = text.split_terminator(' ').map(str::parse).collect::<Result<Vec<_>, _>>();
    all.ok().filter(|all| all.len() == count)
}

fn show_hit(hit: Hit) -> String {
    let ordinal = hit.ordinal.map_or("state".to_owned(), |ordinal| ordinal.to_string());
    format!("{} {} {ordinal}", hit.level, hit.index)
}

fn read_hit(text: &str) -> Option<Hit> {
    let [level, index, ordinal] = text.split(' ').collect::<Vec<_>>().try_into().ok()?;
    let ordinal = if ordinal == "state" { None } else { Some(ordinal.parse().ok()?) };
    Some(Hit { level: level.parse().ok()?, index: index.parse().ok()?, ordinal })
}

fn read_level(text: &str) -> Option<Level> {
    let [states, fingerprints, links] = text.split(' ').collect::<Vec<_>>().try_into().ok()?;
    let states = states.parse().ok().filter(|states| *states > 0 && *states <= u32::MAX.into())?;
    Some(Level { states, fingerprints: read_hex(fingerprints)?, links: read_hex(links)? })
}
