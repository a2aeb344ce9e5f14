//! Where two observations differ, by path.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

/// One differing field: its path (`log[2].epoch`, `role.isr`), and both values as JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Where.
    pub field: String,
    /// The first value; `(absent)` if there is none.
    pub left: String,
    /// The second value.
    pub right: String,
}

/// Every field in which `left` and `right` differ, in alphabetical order of the paths
/// (the order does not hang on how `serde_json` was built).
///
/// Two lists of different lengths differ as a whole, so that one lost record is one row.
pub fn diff<T: Serialize>(left: &T, right: &T) -> Vec<Difference> {
    let mut rows = Vec::new();
    let as_value = |v: &T| serde_json::to_value(v).expect("observations are plain data");
    walk("", &as_value(left), &as_value(right), &mut rows);
    rows
}

fn walk(path: &str, left: &Value, right: &Value, rows: &mut Vec<Difference>) {
    match (left, right) {
        _ if left == right => {}
        (Value::Object(l), Value::Object(r)) => {
            let keys: BTreeSet<_> = l.keys().chain(r.keys()).collect();
            for key in keys {
                let here = join(path, key);
                match (l.get(key), r.get(key)) {
                    (Some(left), Some(right)) => walk(&here, left, right, rows),
                    (left, right) => push(&here, &text(left), &text(right), rows),
                }
            }
        }
        (Value::Array(l), Value::Array(r)) if l.len() == r.len() && l.iter().all(is_object) => {
            for (i, (a, b)) in l.iter().zip(r).enumerate() {
                walk(&format!("{path}[{i}]"), a, b, rows);
            }
        }
        _ => push(path, &left.to_string(), &right.to_string(), rows),
    }
}

fn text(value: Option<&Value>) -> String {
    value.map_or_else(|| "(absent)".into(), Value::to_string)
}

fn is_object(value: &Value) -> bool {
    value.is_object()
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn push(field: &str, left: &str, right: &str, rows: &mut Vec<Difference>) {
    rows.push(Difference { field: field.into(), left: left.into(), right: right.into() });
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nested_fields_are_named_and_equal_ones_are_not() {
        let left = json!({"hw": 1, "role": {"is": "leader", "isr": [1, 2]}, "log": [[0, 1]]});
        let right = json!({"hw": 1, "role": {"is": "leader", "isr": [1]}, "log": [[0, 2]]});
        let rows = diff(&left, &right);
        let fields: Vec<_> = rows.iter().map(|r| r.field.as_str()).collect();
        assert_eq!(fields, ["log", "role.isr"]);
        assert_eq!((rows[1].left.as_str(), rows[1].right.as_str()), ("[1,2]", "[1]"));
        assert_eq!(diff(&left, &left), []);
    }

    #[test]
    fn a_field_on_one_side_only_is_a_difference() {
        let rows = diff(&json!({"a": 1}), &json!({"b": 2}));
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].field.as_str(), rows[0].right.as_str()), ("a", "(absent)"));
    }
}
