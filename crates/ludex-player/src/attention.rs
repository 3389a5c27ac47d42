//! Real-time priority for the thread that waits for a search, where the system allows it.
//!
//! A busy system wakes a waiting thread late: with every core taken, 4 to 60 ms late on the machine this
//! was written on, which is more than a short play clock has. It wakes a thread of a real-time class at
//! once, 0.05 ms late on the same machine. Such a thread takes no time from others, because it only wakes
//! up and answers. The system allows this to privileged users only; for others nothing changes, and the
//! reserve of the clock has to suffice.

/// Raises the priority of the thread that waits for a search, and lowers it again. Several players may
/// share a thread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attention {
    /// The system has refused, and is not asked again.
    is_refused: bool,
}

impl Attention {
    /// Gives the calling thread real-time priority. Threads that it starts keep normal priority.
    pub fn raise(&mut self) {
        self.is_refused = self.is_refused || !system::raise();
    }

    /// Gives the calling thread normal priority again, if a player has raised it.
    pub fn lower(&self) {
        if !self.is_refused {
            system::lower();
        }
    }
}

#[cfg(target_os = "linux")]
mod system {
    /// The real-time class, not inherited by new threads. The flag also marks the threads that we raised.
    const RAISED: i32 = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;

    /// Raises the calling thread and returns whether it is raised. A thread of a special class stays there:
    /// somebody else has put it there on purpose.
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
    fn a_raised_thread_is_lowered_and_starts_normal_threads() {
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
