//! One contract for both disks, and what a power loss takes.

use std::collections::BTreeMap;
use std::io::ErrorKind;

use super::{DataFate, Disk, DiskOp, EntryChange, EntryFate, Fault, FaultOn, Faulty};
use super::{FsDisk, MemDisk, Survives, Then};

/// Everything a disk shows.
fn contents<D: Disk>(disk: &D) -> BTreeMap<String, Vec<u8>> {
    let read = |name: String| {
        let bytes = disk.read_file(&name).unwrap().expect("a listed file is there").into_owned();
        (name, bytes)
    };
    disk.list().unwrap().into_iter().map(read).collect()
}

fn contract<D: Disk>(mut disk: D) {
    assert!(disk.list().unwrap().is_empty());
    assert_eq!(disk.len("a").unwrap(), None);
    assert!(disk.read_file("a").unwrap().is_none());
    disk.create("a").unwrap();
    assert_eq!(disk.create("a").unwrap_err().source.kind(), ErrorKind::AlreadyExists);
    disk.append("a", b"one").unwrap();
    disk.append("a", b"two").unwrap();
    assert_eq!(disk.open("a").unwrap(), 6);
    assert_eq!(*disk.read_at("a", 2, 3).unwrap(), *b"etw");
    assert_eq!(*disk.read_at("a", 6, 0).unwrap(), *b"");
    for (pos, len) in [(4, 3), (7, 0), (u64::MAX, 1), (0, u64::MAX)] {
        let error = disk.read_at("a", pos, len).unwrap_err();
        assert_eq!(error.source.kind(), ErrorKind::UnexpectedEof, "{pos} {len}");
    }
    disk.truncate("a", 4).unwrap();
    disk.append("a", b"X").unwrap();
    assert_eq!(*disk.read_file("a").unwrap().unwrap(), *b"onetX");
    let longer = disk.truncate("a", 9).unwrap_err();
    assert_eq!((longer.op, longer.source.kind()), (DiskOp::Truncate, ErrorKind::InvalidInput));
    disk.sync_file("a").unwrap();
    disk.sync_dir().unwrap();

    disk.replace("b", b"first").unwrap();
    disk.replace("b", b"second").unwrap();
    disk.create("b.tmp").unwrap();
    disk.append("b.tmp", b"left over").unwrap();
    disk.replace("b", b"third").unwrap();
    assert_eq!(disk.list().unwrap(), ["a", "b"]);
    assert_eq!(*disk.read_file("b").unwrap().unwrap(), *b"third");
    disk.append("b", b"+").unwrap();
    disk.rename("b", "a").unwrap();
    disk.append("a", b"+").unwrap();
    assert_eq!(contents(&disk), BTreeMap::from([("a".to_owned(), b"third++".to_vec())]));
    disk.remove("a").unwrap();
    assert!(disk.list().unwrap().is_empty());
    missing_files_are_named(&mut disk);
}

/// Every call on a file that is not there says so, with its path.
fn missing_files_are_named<D: Disk>(disk: &mut D) {
    let errors = [
        disk.open("a").map(drop),
        disk.append("a", b"x"),
        disk.truncate("a", 0),
        disk.sync_file("a"),
        disk.rename("a", "b"),
        disk.remove("a"),
    ];
    for error in errors {
        let error = error.unwrap_err();
        assert_eq!(error.source.kind(), ErrorKind::NotFound, "{error}");
        assert!(error.to_string().contains(&disk.path("a").display().to_string()), "{error}");
    }
}

#[test]
fn a_directory_keeps_the_contract() {
    let dir = tempfile::tempdir().unwrap();
    contract(FsDisk::open(dir.path().join("deep/down")).unwrap());
}

#[test]
fn memory_keeps_the_contract() {
    contract(MemDisk::new());
    contract(Faulty::new(MemDisk::new()));
    contract(&mut MemDisk::new());
}

#[test]
fn a_directory_shows_the_same_files_when_it_is_opened_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut disk = FsDisk::open(dir.path()).unwrap();
    disk.create("a").unwrap();
    disk.append("a", b"bytes").unwrap();
    disk.replace("b", b"more").unwrap();
    std::fs::create_dir(dir.path().join("other")).unwrap();
    let before = contents(&disk);
    let mut again = FsDisk::open(dir.path()).unwrap();
    assert_eq!(contents(&again), before);
    again.append("a", b"!").unwrap();
    assert_eq!(*again.read_file("a").unwrap().unwrap(), *b"bytes!");
}

#[test]
fn a_directory_that_cannot_be_written_in_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a-file");
    std::fs::write(&file, b"").unwrap();
    let error = FsDisk::open(file.join("below")).unwrap_err();
    assert_eq!(error.op, DiskOp::OpenDirectory);
    assert!(error.to_string().starts_with("cannot use as a directory to write in "), "{error}");
    assert!(error.to_string().contains("a-file"), "{error}");
}

/// The dumb twin of [`MemDisk`]: files by number, two tables of names, two versions of each file.
#[derive(Clone, Default)]
struct Twin {
    written: Vec<Vec<u8>>,
    flushed: Vec<Vec<u8>>,
    names: BTreeMap<String, usize>,
    durable_names: BTreeMap<String, usize>,
}

impl Twin {
    fn after(names: &BTreeMap<String, usize>, data: &[Vec<u8>]) -> BTreeMap<String, Vec<u8>> {
        names.iter().map(|(name, file)| (name.clone(), data[*file].clone())).collect()
    }
}

const OPS: usize = 8;

/// Does one step to both; false if it makes no sense here.
fn step(op: usize, disk: &mut MemDisk, twin: &mut Twin) -> bool {
    let a = twin.names.get("a").copied();
    let done = match (op, a) {
        (0, None) => {
            twin.names.insert("a".into(), twin.written.len());
            twin.written.push(Vec::new());
            twin.flushed.push(Vec::new());
            disk.create("a")
        }
        (1, Some(a)) => {
            let byte = twin.written.iter().map(Vec::len).sum::<usize>() as u8 + 1;
            twin.written[a].extend([byte, byte]);
            disk.append("a", &[byte, byte])
        }
        (2, Some(a)) if twin.written[a].len() > 1 => {
            twin.written[a].truncate(1);
            disk.truncate("a", 1)
        }
        (3, Some(a)) => {
            twin.flushed[a] = twin.written[a].clone();
            disk.sync_file("a")
        }
        (4, Some(a)) => {
            twin.names.remove("a");
            twin.names.insert("b".into(), a);
            disk.rename("a", "b")
        }
        (5, Some(_)) => {
            twin.names.remove("a");
            disk.remove("a")
        }
        (6, _) => {
            twin.durable_names = twin.names.clone();
            disk.sync_dir()
        }
        (7, Some(a)) if !twin.written[a].is_empty() => {
            twin.written[a].clear();
            disk.truncate("a", 0)
        }
        _ => return false,
    };
    done.unwrap();
    true
}

fn explore(depth: usize, disk: &MemDisk, twin: &Twin) -> usize {
    assert_eq!(contents(disk), Twin::after(&twin.names, &twin.written));
    let mut lost = disk.clone();
    lost.power_loss(|_| Survives::FLUSHED);
    assert_eq!(contents(&lost), Twin::after(&twin.durable_names, &twin.flushed));
    let mut again = lost.clone();
    again.power_loss(|file| {
        assert_eq!((file.written, file.cut, file.entry), (0, 0, EntryChange::None), "{file:?}");
        Survives::FLUSHED
    });
    assert_eq!(again, lost, "after a power loss everything is durable");
    let mut kept = disk.clone();
    kept.power_loss(|_| Survives::ALL);
    assert_eq!(contents(&kept), contents(disk));
    if depth == 0 {
        return 1;
    }
    let mut seen = 1;
    for op in 0..OPS {
        let (mut disk, mut twin) = (disk.clone(), twin.clone());
        if step(op, &mut disk, &mut twin) {
            seen += explore(depth - 1, &disk, &twin);
        }
    }
    seen
}

#[test]
fn a_power_loss_leaves_what_the_twin_says_after_every_short_history() {
    let seen = explore(7, &MemDisk::new(), &Twin::default());
    assert!(seen > 10_000, "{seen} histories");
}

#[test]
fn a_power_loss_leaves_any_prefix_of_the_unflushed_bytes() {
    let mut disk = MemDisk::new();
    disk.create("a").unwrap();
    disk.append("a", b"0123456789").unwrap();
    disk.sync_file("a").unwrap();
    disk.sync_dir().unwrap();
    disk.truncate("a", 4).unwrap();
    disk.append("a", b"xyz").unwrap();
    let file = disk.unflushed("a").unwrap();
    assert_eq!((file.durable, file.written, file.cut), (4, 3, 6));
    let after = |data| {
        let mut disk = disk.clone();
        disk.power_loss(|_| Survives { data, entry: EntryFate::AsFlushed });
        contents(&disk).remove("a").unwrap()
    };
    assert_eq!(after(DataFate::AsFlushed), b"0123456789");
    for (kept, bytes) in [(0, "0123"), (1, "0123x"), (2, "0123xy"), (3, "0123xyz"), (9, "0123xyz")]
    {
        assert_eq!(after(DataFate::Written(kept)), bytes.as_bytes());
    }
    assert_eq!(after(DataFate::ZeroFilled(1)), b"0123x\0\0");
}

#[test]
fn a_replaced_file_is_the_old_or_the_new_one_wherever_it_breaks() {
    let breaks = |after, survives| {
        let mut disk = Faulty::new(MemDisk::new());
        disk.replace("a", b"old").unwrap();
        disk.arm(Fault { on: FaultOn::Change, after, tear: 1, then: Then::StaysBroken });
        let done = disk.replace("a", b"new");
        assert_eq!(done.is_ok(), disk.is_armed());
        let mut disk = disk.into_inner();
        disk.power_loss(|_| survives);
        (done.is_ok(), contents(&disk).remove("a").expect("old or new"))
    };
    let (old, new) = (b"old".to_vec(), b"new".to_vec());
    for survives in [Survives::FLUSHED, Survives::ALL, Survives::bytes(0)] {
        // Create, append, flush, rename, flush of the names.
        for after in 0..5 {
            let (done, left) = breaks(after, survives);
            assert!(!done && (left == old || left == new), "{after}: {left:?}");
        }
        assert_eq!(breaks(5, survives), (true, new.clone()));
    }
}

#[test]
fn a_fault_strikes_once_or_for_good_and_tears_where_it_is_told() {
    for tear in 0..5 {
        let mut disk = Faulty::new(MemDisk::new());
        disk.create("a").unwrap();
        disk.arm(Fault { on: FaultOn::Write, after: 1, tear, then: Then::Works });
        disk.append("a", b"abc").unwrap();
        let full = disk.append("a", b"def").unwrap_err();
        assert_eq!(full.source.kind(), ErrorKind::StorageFull);
        let torn = &b"abcdef"[..3 + tear.min(3) as usize];
        assert_eq!(*disk.read_file("a").unwrap().unwrap(), *torn);
        disk.append("a", b"g").unwrap();
    }
    let mut disk = Faulty::new(MemDisk::new());
    disk.create("a").unwrap();
    disk.arm(Fault { on: FaultOn::Sync, after: 0, tear: 0, then: Then::StaysBroken });
    disk.append("a", b"abc").unwrap();
    assert_eq!(disk.sync_file("a").unwrap_err().op, DiskOp::SyncFile);
    assert!(disk.append("a", b"d").is_err());
    assert!(disk.sync_dir().is_err());
    assert_eq!(disk.inner().unflushed("a").unwrap().durable, 0);
    disk.heal();
    disk.sync_file("a").unwrap();
    assert_eq!(disk.inner().unflushed("a").unwrap().durable, 3);
}
