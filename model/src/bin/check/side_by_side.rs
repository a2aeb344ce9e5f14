//! Work that is done side by side, and told in its order.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, available_parallelism, scope};

/// As many threads as were asked for, else as there are cores.
pub fn threads(asked: Option<u16>) -> usize {
    let cores = || available_parallelism().map_or(1, NonZero::get);
    asked.map_or_else(cores, usize::from)
}

/// Works on these numbers, begun with the first, in threads of this name. What comes of them is
/// sorted by number, so that it does not depend on the threads; nothing comes of what is left out.
pub fn side_by_side<T: Send>(
    threads: usize,
    name: &str,
    numbers: &[usize],
    work: impl Fn(usize) -> Option<T> + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(numbers.len()));
    let run = || {
        while let Some(&number) = numbers.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Some(made) = work(number) {
                done.lock().expect("no holder panics").push((number, made));
            }
        }
    };
    scope(|scope| {
        for _ in 0..threads.min(numbers.len()) {
            let thread = Builder::new().name(name.into());
            thread.spawn_scoped(scope, run).expect("the system has a thread");
        }
    });
    let mut done = done.into_inner().expect("no holder panics");
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, made)| made).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_their_numbers_whoever_made_them() {
        let backwards: Vec<usize> = (0..100).rev().collect();
        let even = |number: usize| number.is_multiple_of(2).then_some(number);
        for threads in [1, 2, 7, 200] {
            let made = side_by_side(threads, "test", &backwards, even);
            assert_eq!(made, (0..100).step_by(2).collect::<Vec<_>>());
        }
        assert_eq!(side_by_side(3, "test", &[], even), Vec::<usize>::new());
    }
}
