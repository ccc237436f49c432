//! Gives memory back that only the start of a program needed, or what it did once.
//!
//! **Source.** `madvise(2)`, `malloc_trim(3)`, `dl_iterate_phdr(3)`. Of a member's resident memory
//! most is code and constants of the program and of the C library that ran once: reading settings,
//! help texts, error paths, answers. The kernel keeps such pages resident until it needs the space,
//! and for good if memory is locked.
//!
//! **Assumptions.** Segments that the program headers call read-only are never written. An object
//! whose code is relocated (`DT_TEXTREL`) breaks that, and is left alone.
//!
//! **Promise.** The contents of memory do not change. Pages that are used again come back from the
//! page cache by a minor fault, and are locked again if they were. A kernel that was short of
//! memory meanwhile reads them from the disk.

#[cfg(target_pointer_width = "64")]
mod pages;

/// Gives back free heap memory, and pages of code and constants that were used so far. It locks the
/// allocator, so whoever allocates meanwhile waits: it is for the start.
pub fn give_back() {
    trim_heap();
    drop_clean();
}

/// Gives back pages of code and constants that were used so far, and leaves the heap alone.
pub fn drop_clean() {
    #[cfg(target_pointer_width = "64")]
    pages::drop_clean();
}

/// Bytes of files that are resident in this process, if the system tells: what is resident and not
/// anonymous. The kernel counts page by page for that; the sizes in `status` lack what its
/// processors or threads have not added up yet, which many kernels let be some hundred kilobytes.
pub fn resident_of_files() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").ok()?;
    let kibibytes = |key| -> Option<u64> {
        let size = text.lines().find_map(|line| line.strip_prefix(key))?;
        size.split_whitespace().next()?.parse().ok()
    };
    kibibytes("Rss:")?.checked_sub(kibibytes("Anonymous:")?)?.checked_mul(1024)
}

#[cfg(not(target_env = "gnu"))]
fn trim_heap() {}

/// Returns free heap memory to the system, where the C library can.
#[cfg(target_env = "gnu")]
#[allow(unsafe_code, reason = "a call that rustix lacks; see SAFETY")]
fn trim_heap() {
    // SAFETY: the call takes a number, locks the allocator's arenas itself, and gives back only
    // memory that nobody has allocated.
    unsafe { libc::malloc_trim(0) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kilobytes of the program's code that are resident.
    fn resident_code() -> u64 {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let path = std::env::current_exe().unwrap();
        let code = |line: &&str| line.contains(" r-xp ") && line.ends_with(path.to_str().unwrap());
        let mut lines = maps.lines().skip_while(|line| !code(line));
        let size = lines.find_map(|line| line.strip_prefix("Rss:")).unwrap();
        size.split_whitespace().next().unwrap().parse().unwrap()
    }

    /// Reads every page of the program's own code and constants.
    fn touch_everything() -> u64 {
        let program = std::fs::read("/proc/self/exe").unwrap();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let path = std::env::current_exe().unwrap();
        let own = maps.lines().filter(|line| line.ends_with(path.to_str().unwrap()));
        let mut sum = program.len() as u64;
        for line in own.filter(|line| line.contains(" r--p ") || line.contains(" r-xp ")) {
            let range = line.split_whitespace().next().unwrap();
            let (from, to) = range.split_once('-').unwrap();
            let address = |text| usize::from_str_radix(text, 16).unwrap();
            for at in (address(from)..address(to)).step_by(4096) {
                let byte = std::ptr::with_exposed_provenance::<u8>(at);
                #[allow(unsafe_code, reason = "reads what is mapped; see SAFETY")]
                // SAFETY: the page is mapped, readable, and never unmapped: it is the program's.
                let byte = unsafe { byte.read_volatile() };
                sum = sum.wrapping_mul(31).wrapping_add(u64::from(byte));
            }
        }
        sum
    }

    fn are_given_back_and_come_back() {
        let before = touch_everything();
        let (resident, files) = (resident_code(), resident_of_files().unwrap());
        give_back();
        let left = resident_code();
        assert!(left < resident / 2, "{resident} KiB, and {left} KiB afterwards");
        let fewer = files - resident_of_files().unwrap();
        assert!(fewer >= (resident - left) * 1024, "{resident} to {left} KiB, {fewer} bytes");
        assert_eq!(touch_everything(), before, "the same bytes");
        assert!(resident_code() > left, "they are resident again");
    }

    /// Before Linux 5.18 locked pages stay.
    fn stay() {
        let before = touch_everything();
        let resident = resident_code();
        give_back();
        assert_eq!(resident_code(), resident);
        assert_eq!(touch_everything(), before, "the same bytes");
    }

    /// Whether this kernel drops locked pages.
    fn drops_locked_pages() -> bool {
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
        let mut numbers = release.split(|sign: char| !sign.is_ascii_digit());
        let mut number = || numbers.next().unwrap().parse::<u32>().unwrap();
        (number(), number()) >= (5, 18)
    }

    /// Kilobytes of this process that are locked.
    fn locked() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let size = status.lines().find_map(|line| line.strip_prefix("VmLck:")).unwrap();
        size.split_whitespace().next().unwrap().parse().unwrap()
    }

    /// Set in the process that locks its memory.
    const ALONE: &str = "BELLWETHER_TEST_MEMORY_ALONE";

    /// In a process of its own: pages are dropped, and memory is locked, of a whole process.
    #[test]
    #[allow(clippy::print_stderr, reason = "a test says what it leaves out")]
    fn pages_of_the_program_are_given_back_and_come_back_unchanged_and_as_locked_as_they_were() {
        if std::env::var_os(ALONE).is_some() {
            alone();
            return;
        }
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args(["memory::tests::pages_of_the_program", "--nocapture"]).env(ALONE, "yes");
        let output = child.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        eprint!("{}", String::from_utf8_lossy(&output.stderr)); // also why something is left out
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
    }

    #[allow(clippy::print_stderr, reason = "a test says what it leaves out")]
    fn alone() {
        are_given_back_and_come_back();
        if let Some(refused) = crate::priority::lock_memory() {
            eprintln!("not tested with locked memory: {refused}");
            return;
        }
        let before = locked();
        let seen = if drops_locked_pages() { are_given_back_and_come_back } else { stay };
        seen();
        let after = locked();
        assert!(before > 0 && after >= before, "{before} KiB were locked, and {after} KiB are");
    }

    #[test]
    fn what_is_resident_of_files_is_told() {
        let size = resident_of_files().unwrap();
        assert!((100 << 10..1 << 30).contains(&size), "{size} bytes");
    }
}
