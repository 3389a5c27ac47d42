//! Time and memory used by the process.

use std::time::Duration;

/// Processor time of all threads of the process; `None` if the system does not report it.
#[cfg(unix)]
pub fn cpu_time() -> Option<Duration> {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let seconds = u64::try_from(used.tv_sec).ok()?;
    Some(Duration::new(seconds, u32::try_from(used.tv_nsec).ok()?))
}

/// Processor time of all threads of the process; `None` if the system does not report it.
#[cfg(not(unix))]
pub fn cpu_time() -> Option<Duration> {
    None
}

/// Peak memory of the process, in MiB; `None` if the system does not report it.
pub fn peak_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some((kib / 1024.0 * 10.0).round() / 10.0)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_system_reports_time_and_memory() {
        assert!(peak_mb().is_some_and(|mb| mb > 0.5));
        assert!(cpu_time().is_some());
    }
}
