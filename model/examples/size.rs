use klog_model::{protocol::Protocol, search::*, system::System};
use klog_trace::{Acks, trace::Bounds};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let n = |i: usize| a[i].parse::<u8>().unwrap();
    let bounds = Bounds {
        brokers: n(2),
        min_isr: n(3),
        records: n(4),
        acks: if a.len() > 11 {
            vec![Acks::Leader]
        } else {
            vec![Acks::All]
        },
        moves: n(5),
        crashes: n(6),
        power_losses: n(7),
        lag_checks: n(8),
        checkpoints: n(9),
        interleaving: if a.len() > 10 && a[10] == "full" {
            klog_trace::trace::Interleaving::Full
        } else {
            Default::default()
        },
    };
    let system = std::sync::Arc::new(System::new(
        {
            let mut parts = a[1].split('+');
            let mut p = Protocol::by_name(parts.next().unwrap()).unwrap();
            for f in parts {
                p.faults.push(klog_model::fault::Fault::by_name(f).unwrap());
            }
            p
        },
        bounds,
    ));
    let t = std::time::Instant::now();
    if std::env::var("V").is_ok() {
        for p in [klog_trace::property::Property::CommittedSurvives] {
            let f = Search::new(
                system.clone(),
                Goal::Violate(p),
                Limits {
                    states: Some(30_000_000),
                    ..Limits::default()
                },
            )
            .run();
            println!(
                "{} {:?} {} {:?} {:?}",
                p.id(),
                f.path.as_ref().map(|p| p.len()),
                f.unique,
                f.bound,
                t.elapsed()
            );
            for x in f.path.unwrap_or_default() {
                println!("   {x}");
            }
        }
        return;
    }
    let s = Search::new(
        system.clone(),
        Goal::Explore,
        Limits {
            states: Some(8_000_000),
            ..Limits::default()
        },
    );
    let c = s.counters.clone();
    let f = s.run();
    println!("{:?} {:?}", Found { path: None, ..f }, t.elapsed());
    println!(
        "violated {:b} witnessed {:b} outside {}",
        c.violated.load(std::sync::atomic::Ordering::Relaxed),
        c.witnessed.load(std::sync::atomic::Ordering::Relaxed),
        c.outside_claim.load(std::sync::atomic::Ordering::Relaxed)
    );
    for (p, _, _) in klog_trace::property::PROPERTIES {
        if c.violated.load(std::sync::atomic::Ordering::Relaxed) & (1 << p as u64) != 0 {
            let f = Search::new(system.clone(), Goal::Violate(p), Limits::default()).run();
            println!("{} {:?}", p.id(), f.path.as_ref().map(|p| p.len()));
            for x in f.path.unwrap_or_default() {
                println!("   {x}");
            }
        }
    }
}
