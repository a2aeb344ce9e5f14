//! The published format of a trace: docs/trace.schema.json is made from the types that read it.

use klog_trace::trace::{Header, Start, Step};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::workspace::{files, golden, read};

const FILE: &str = "docs/trace.schema.json";

/// One schema for the three kinds of line; all objects in it are closed.
fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let lines = [
        ("header", Header::json_schema(&mut generator)),
        ("start", Start::json_schema(&mut generator)),
        ("step", Step::json_schema(&mut generator)),
    ];
    let mut definitions = generator.take_definitions(true);
    for (name, schema) in lines {
        definitions.insert(name.to_owned(), schema.into());
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "klog-trace, version 1: one line of a trace",
        "description": "Line 1 is a header, line 2 the start, every later line a step.",
        "oneOf": [
            {"$ref": "#/$defs/header"},
            {"$ref": "#/$defs/start"},
            {"$ref": "#/$defs/step"},
        ],
        "$defs": definitions,
    })
}

#[test]
fn the_schema_is_made_from_the_types() {
    let text = serde_json::to_string_pretty(&schema()).expect("a schema is plain data");
    golden(FILE, &(text + "\n"));
}

/// Every object that has properties says that it has no others.
fn open_objects(value: &Value, path: &str, found: &mut Vec<String>) {
    if let Some(object) = value.as_object() {
        let is_schema = object.get("properties").is_some_and(Value::is_object);
        if is_schema && object.get("additionalProperties") != Some(&Value::Bool(false)) {
            found.push(path.to_owned());
        }
        for (key, inner) in object {
            open_objects(inner, &format!("{path}/{key}"), found);
        }
    }
    for (i, inner) in value.as_array().into_iter().flatten().enumerate() {
        open_objects(inner, &format!("{path}/{i}"), found);
    }
}

#[test]
fn every_object_of_the_schema_is_closed() {
    let mut found = Vec::new();
    open_objects(&schema(), "", &mut found);
    assert_eq!(found, Vec::<String>::new());
    open_objects(&json!({"a": {"properties": {"b": true}}}), "", &mut found);
    assert_eq!(found, ["/a"]);
}

/// Every key that stands in a committed trace is a key of the schema, so that the schema cannot
/// fall behind by a renamed field.
#[test]
fn the_schema_knows_every_key_of_the_committed_traces() {
    fn collect(value: &Value, keys: &mut std::collections::BTreeSet<String>) {
        match value {
            Value::Object(object) => {
                // The keys of `brokers` in a step are numbers of brokers.
                let named = object.keys().filter(|k| k.parse::<u8>().is_err());
                keys.extend(named.cloned());
                object.values().for_each(|v| collect(v, keys));
            }
            Value::Array(list) => list.iter().for_each(|v| collect(v, keys)),
            _ => {}
        }
    }
    let text = read(FILE);
    let mut keys = std::collections::BTreeSet::new();
    for file in files(".jsonl") {
        for line in read(&file).lines() {
            collect(&serde_json::from_str(line).expect("a line is JSON"), &mut keys);
        }
    }
    assert!(keys.len() > 40, "only {keys:?}");
    for key in keys {
        assert!(text.contains(&format!("\"{key}\"")), "the schema does not know `{key}`");
    }
}
