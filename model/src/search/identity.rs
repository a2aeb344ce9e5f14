//! What a search is of, so that nobody goes on with the checkpoint of another one.

use std::fmt;

use levelwise::Unusable;

use crate::report::Subject;

/// Names with values: everything that decides what a search finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity(Vec<(String, String)>);

/// The line of a checkpoint that has it.
const LINE: &str = "identity";
const BETWEEN: &str = "; ";

impl Identity {
    /// Of a search of this subject for one property, or for all of them.
    pub fn new(subject: &Subject, property: Option<&str>, symmetry: bool) -> Self {
        let bounds = serde_json::to_value(&subject.bounds).expect("bounds are plain data");
        let bounds = bounds.as_object().into_iter().flatten();
        let faults = subject.faults.join(", ");
        let parts = [
            ("version", env!("CARGO_PKG_VERSION")),
            ("scenario", &subject.scenario),
            ("protocol", &subject.protocol),
            ("faults", if faults.is_empty() { "none" } else { &faults }),
            ("property", property.unwrap_or("all")),
            ("symmetry", if symmetry { "yes" } else { "no" }),
        ];
        let parts = parts.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let bounds = bounds.map(|(name, value)| (name.clone(), value.to_string().replace('"', "")));
        Self(parts.into_iter().chain(bounds).collect())
    }

    /// The same error; where the checkpoint is of another search, with the first thing that
    /// differs.
    pub fn compared(&self, error: Unusable) -> Unusable {
        match error {
            Unusable::Foreign { file, what, expected, got } if what == LINE => {
                let (what, expected, got) =
                    self.first_difference(&got).unwrap_or((what, expected, got));
                Unusable::Foreign { file, what, expected, got }
            }
            other => other,
        }
    }

    /// What differs from the identity in a line of a checkpoint: its name, its value here, and
    /// there.
    fn first_difference(&self, line: &str) -> Option<(String, String, String)> {
        let there = line.strip_prefix(LINE)?.trim_start();
        let there: Vec<_> = there.split(BETWEEN).filter_map(|part| part.split_once(' ')).collect();
        let value = |name: &str| there.iter().find(|part| part.0 == name).map(|part| part.1);
        self.0.iter().find_map(|(name, here)| {
            let there = value(name).unwrap_or("nothing");
            (there != here).then(|| (name.clone(), here.clone(), there.to_owned()))
        })
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> =
            self.0.iter().map(|(name, value)| format!("{name} {value}")).collect();
        f.write_str(&parts.join(BETWEEN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Within;
    use crate::scenario;

    fn identity() -> Identity {
        let bounds = scenario::by_name("one-crash").expect("a scenario").bounds;
        let subject = Subject {
            scenario: "one-crash".to_owned(),
            protocol: "klog".to_owned(),
            faults: vec!["truncate-to-hw".to_owned()],
            bounds: Within::Scenario(bounds),
        };
        Identity::new(&subject, None, false)
    }

    fn differing(there: &str) -> (String, String, String) {
        let foreign = Unusable::Foreign {
            file: "kept/manifest".into(),
            what: LINE.to_owned(),
            expected: format!("{LINE} {}", identity()),
            got: there.to_owned(),
        };
        match identity().compared(foreign) {
            Unusable::Foreign { what, expected, got, .. } => (what, expected, got),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_part_is_told_by_its_name_where_it_differs() {
        let parts = identity().0;
        let names: Vec<&str> = parts.iter().map(|part| part.0.as_str()).collect();
        for name in ["version", "protocol", "faults", "brokers", "power_losses", "interleaving"] {
            assert!(names.contains(&name), "{name} is not told");
        }
        for (n, (name, value)) in parts.iter().enumerate() {
            let mut other = parts.clone();
            other[n].1 = "another".to_owned();
            let expected = (name.clone(), value.clone(), "another".to_owned());
            assert_eq!(differing(&format!("{LINE} {}", Identity(other.clone()))), expected);
            other.remove(n);
            let expected = (name.clone(), value.clone(), "nothing".to_owned());
            assert_eq!(differing(&format!("{LINE} {}", Identity(other))), expected);
        }
    }

    #[test]
    fn what_stands_on_one_line_of_a_checkpoint_stays_as_it_is() {
        let text = identity().to_string();
        assert_eq!(text.escape_default().to_string(), text);
    }

    #[test]
    fn a_line_that_is_none_of_ours_is_told_whole() {
        let whole = format!("{LINE} {}", identity());
        let differs = differing("seed 7");
        assert_eq!(differs, (LINE.to_owned(), whole, "seed 7".to_owned()));
        let other = Unusable::Unnamed;
        assert_eq!(identity().compared(other.clone()), other);
    }
}
