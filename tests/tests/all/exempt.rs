//! What is not compared, in plain sight.

use std::collections::BTreeSet;

use klog_conform::exempt::{FIELDS, Fate};

/// Whoever adds a field to this list says in `exempt.rs` why nobody needs to look at it.
#[test]
fn nothing_else_is_exempt() {
    let exempt = FIELDS.iter().filter(|row| matches!(row.fate, Fate::Exempt(_)));
    let names: Vec<_> = exempt.map(|row| (row.of, row.field)).collect();
    assert_eq!(
        names,
        [
            ("Config", "lag_max_ms"),
            ("Config", "fetch_max_bytes"),
            ("LogState", "flushed"),
            ("Waiting", "deadline_ms"),
        ]
    );
}

#[test]
fn every_row_stands_once_and_says_something() {
    let names: BTreeSet<_> = FIELDS.iter().map(|row| (row.of, row.field)).collect();
    assert_eq!(names.len(), FIELDS.len());
    for row in FIELDS {
        let (Fate::Compared(said) | Fate::Checked(said) | Fate::Exempt(said)) = row.fate;
        assert!(!said.is_empty(), "{row:?}");
    }
}
