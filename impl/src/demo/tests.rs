//! The demo against its goldens. `UPDATE_GOLDEN=1 cargo test -p klog demo` rewrites them.

use super::*;

const FIGURES: Settings = Settings { rounds: 4, min_isr: 2, now_ms: 1_700_000_000_000 };

fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        fs::write(&path, text).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{name} differs; UPDATE_GOLDEN=1 rewrites it");
}

#[test]
fn the_figures_are_those_of_the_goldens_and_five_runs_print_the_same_bytes() {
    let outputs = [(); 5].map(|()| {
        let report = run_in_temporary(FIGURES).unwrap();
        (human(&report), json(&report))
    });
    for output in &outputs {
        assert_eq!(output, &outputs[0]);
    }
    golden("replica-demo.txt", &outputs[0].0);
    golden("replica-demo.json", &outputs[0].1);
    let temporary = std::env::temp_dir();
    assert!(!outputs[0].0.contains(&*temporary.to_string_lossy()));
    assert!(outputs[0].0.lines().all(|line| line.len() <= 100 && line == line.trim_end()));
}

#[test]
fn other_settings_keep_every_claim() {
    for (rounds, min_isr, now_ms) in [(1, 2, 0), (1, 1, 0), (2, 1, 5), (9, 2, 253_402_300_799_999)]
    {
        let settings = Settings { rounds, min_isr, now_ms };
        let report = run_in_temporary(settings).unwrap();
        assert_eq!(report.rounds.len(), rounds as usize);
        assert_eq!(report.shrink.under_min_isr, min_isr == 2);
        assert_eq!(report.acks_all.error, if min_isr == 2 { 19 } else { 0 });
        assert!(report.checked > 40, "{}", report.checked);
        human(&report);
    }
}

#[test]
fn the_segments_hold_record_batches() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), FIGURES).unwrap();
    for (broker, records) in [("broker-1", 5), ("broker-2", 4)] {
        let segment = dir.path().join(broker).join("orders-0").join("00000000000000000000.log");
        let bytes = fs::read(segment).unwrap();
        let mut rest = &bytes[..];
        let mut found = 0;
        while !rest.is_empty() {
            let header = crate::log::batch::verify(rest).unwrap();
            assert_eq!(header.base_offset.0, found);
            found += 1;
            rest = &rest[header.bytes as usize..];
        }
        assert_eq!(found, records, "{broker}");
    }
}

#[test]
fn a_directory_with_something_in_it_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine");
    fs::write(&file, "precious").unwrap();
    let error = prepare(dir.path()).unwrap_err();
    assert!(matches!(error, DemoError::Directory { .. }));
    assert!(
        error
            .to_string()
            .ends_with("the directory is not empty; name one that is empty or does not exist")
    );
    let error = prepare(&file).unwrap_err().to_string();
    assert!(error.contains("mine") && !error.contains('\n'), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    let new = dir.path().join("a").join("b");
    assert_eq!(prepare(&new).unwrap(), new);
}
