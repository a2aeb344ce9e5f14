//! scratch
use levelwise::*;
use std::time::Instant;

#[derive(Clone)]
struct Log;
const L: u64 = 5;
const E: u64 = 3;
// 3 replicas x 16 bits: log 8 bits (4 x epoch), hw 3, epoch 2, leads 1
#[inline]
fn rep(s: u64, r: u64) -> u64 {
    s >> (r * 18) & 0x3ffff
}
#[inline]
fn set(s: u64, r: u64, v: u64) -> u64 {
    s & !(0x3ffff << (r * 18)) | v << (r * 18)
}
#[inline]
fn len(v: u64) -> u64 {
    (64 - (v & 0x3ff).leading_zeros() as u64).div_ceil(2)
}
impl Space for Log {
    type Action = (u8, u8);
    type Worker = u64;
    fn worker(&self) -> u64 {
        0
    }
    fn seed(&self) -> u64 {
        0
    }
    fn kinds(&self) -> Vec<String> {
        ["elect", "append", "copy", "hw"].map(String::from).to_vec()
    }
    fn goals(&self) -> Vec<Goal> {
        vec![Goal::always("agree")]
    }
    fn initial(&self, w: &mut u64, sink: &mut impl Sink<(u8, u8)>) {
        emit_start(0, *w, sink)
    }
    #[inline]
    fn visit(&self, w: &mut u64, row: &[u32], sink: &mut impl Sink<(u8, u8)>) {
        let s = u64::from(row[0]) | u64::from(row[1]) << 32;
        if sink.open() & 1 != 0 {
            for a in 0..3 {
                for b in 0..a {
                    let (x, y) = (rep(s, a), rep(s, b));
                    let hw = (x >> 10 & 7).min(y >> 10 & 7);
                    if (x ^ y) & ((1 << (2 * hw)) - 1) != 0 {
                        sink.hit(0);
                    }
                }
            }
        }
        if !sink.expands() {
            return;
        }
        let seed = *w;
        let mut out = |k: usize, n: u64, a: (u8, u8)| {
            let row = [n as u32, (n >> 32) as u32];
            sink.step(k, levelwise::fingerprint::of_words(&row, seed), &row, || a);
        };
        let top = (0..3).map(|r| rep(s, r) >> 13 & 3).max().unwrap();
        for r in 0..3u64 {
            let v = rep(s, r);
            if top < E {
                // elect r with majority
                for q in 0..3u64 {
                    if q != r {
                        let o = rep(s, q);
                        if len(o) <= len(v) {
                            let mut n = set(s, r, v & 0x1fff | (top + 1) << 13 | 1 << 15);
                            n = set(n, q, o & 0x1fff | (top + 1) << 13);
                            out(0, n, (r as u8, q as u8));
                        }
                    }
                }
            }
            if v >> 15 & 1 == 1 {
                let l = len(v);
                let e = v >> 13 & 3;
                if l < L {
                    out(1, set(s, r, v | e << (2 * l)), (r as u8, 0));
                }
                for q in 0..3u64 {
                    if q != r {
                        let o = rep(s, q);
                        if o >> 13 & 3 <= e {
                            let diff = (v ^ o) & 0x3ff;
                            if diff != 0 {
                                let at = diff.trailing_zeros() as u64 / 2;
                                let keep = (1 << (2 * at)) - 1;
                                let entry = v & (3 << (2 * at));
                                let hw = (o >> 10 & 7).min(at);
                                let n = (o & keep) | entry | hw << 10 | e << 13;
                                out(2, set(s, q, n), (r as u8, q as u8));
                            } else if (o >> 10 & 7) < (v >> 10 & 7) {
                                let n = o & 0x3ff | (v >> 10 & 7) << 10 | e << 13;
                                out(3, set(s, q, n), (r as u8, q as u8));
                            }
                        }
                    }
                }
                let hw = v >> 10 & 7;
                if hw < l {
                    let have = (0..3)
                        .filter(|q| {
                            let o = rep(s, *q);
                            (o ^ v) & ((1 << (2 * hw + 2)) - 1) == 0
                        })
                        .count();
                    if have >= 2 {
                        out(3, set(s, r, v & !(7 << 10) | (hw + 1) << 10), (r as u8, 9));
                    }
                }
            }
        }
    }
}
fn emit_start(n: u64, seed: u64, sink: &mut impl Sink<(u8, u8)>) {
    let row = [n as u32, (n >> 32) as u32];
    sink.start(levelwise::fingerprint::of_words(&row, seed), &row);
}
fn main() {
    let threads: usize = std::env::args().nth(1).map_or(1, |a| a.parse().unwrap());
    for _ in 0..3 {
        let t = Instant::now();
        let o = search(&Log, &Options { threads, ..Options::default() });
        let s = t.elapsed().as_secs_f64();
        println!(
            "{:?} unique {} generated {} depth {} {:.3}s {:.2}M/s gen {:.2}M/s bytes/state {:.1} {:?}",
            o.verdict,
            o.unique,
            o.counts.generated,
            o.depth,
            s,
            o.unique as f64 / s / 1e6,
            o.counts.generated as f64 / s / 1e6,
            o.bytes as f64 / o.unique as f64,
            o.goals
        );
    }
}
