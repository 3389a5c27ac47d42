//! Being woken up in time, where the system lets us.
//!
//! A thread that waits for a clock is run by a busy system when it sees fit: with every core taken, 4 to
//! 60 ms late on the machine this was written on, which is more than a short play clock has. A thread of
//! a real-time class is run at once, 0.05 ms late there, and as it does nothing but wake up and answer it
//! takes nothing from anybody. The system allows that to privileged users only; for others nothing
//! changes, and what is kept back from the clock has to do.

/// Raises the thread that waits for a search, and lowers it again. Several players may share a thread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attention {
    /// The system said no: not asked again.
    is_refused: bool,
}

impl Attention {
    /// From now on the calling thread runs as soon as it can. Threads it starts are ordinary ones.
    pub fn raise(&mut self) {
        self.is_refused = self.is_refused || !system::raise();
    }

    /// The calling thread is like others again, if a player raised it.
    pub fn lower(&self) {
        if !self.is_refused {
            system::lower();
        }
    }
}

#[cfg(target_os = "linux")]
mod system {
    /// The real-time class, not handed down: by that mark we know whom we raised.
    const RAISED: i32 = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;

    /// Whether the calling thread is raised now. One of another than the ordinary class was put there by
    /// somebody who knows why, and stays.
    pub fn raise() -> bool {
        match policy() {
            RAISED => true,
            libc::SCHED_OTHER => set(RAISED, 1),
            _ => false,
        }
    }

    pub fn lower() {
        if policy() == RAISED {
            set(libc::SCHED_OTHER, 0);
        }
    }

    pub fn policy() -> i32 {
        // SAFETY: the call reads nothing but its argument; 0 is the calling thread.
        unsafe { libc::sched_getscheduler(0) }
    }

    fn set(policy: i32, sched_priority: i32) -> bool {
        let param = libc::sched_param { sched_priority };
        // SAFETY: the parameter lives until the call returns; 0 is the calling thread.
        unsafe { libc::sched_setscheduler(0, policy, &param) == 0 }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub fn raise() -> bool {
        false
    }

    pub fn lower() {}
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::system::policy;
    use super::*;

    #[test]
    fn what_was_raised_is_lowered_and_threads_it_starts_are_ordinary() {
        let before = policy();
        let (mut attention, mut another) = (Attention::default(), Attention::default());
        attention.raise();
        another.raise();
        assert_eq!(attention.is_refused, another.is_refused);
        assert_eq!(attention.is_refused, policy() == before);
        let started = std::thread::spawn(policy).join().expect("it only asks");
        assert_eq!(started, before);
        another.lower();
        assert_eq!(policy(), before);
    }
}
