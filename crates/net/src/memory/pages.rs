//! Drops the pages of read-only segments of the program and of its libraries, locked or not.

use std::ffi::{c_int, c_void};

/// Drops them, of every loaded object.
#[allow(unsafe_code, reason = "a call that rustix lacks; see SAFETY")]
pub(super) fn drop_clean() {
    // SAFETY: the function has the signature that the loader calls, ignores its last argument, and
    // does not unwind: it neither allocates nor asserts.
    unsafe { libc::dl_iterate_phdr(Some(drop_pages_of), std::ptr::null_mut()) };
}

/// Drops the pages of the read-only segments of one loaded object.
///
/// # Safety
/// `info` describes a loaded object that stays loaded during the call. The loader calls it so: it
/// holds the lock without which no object is unloaded.
#[allow(unsafe_code, reason = "the loader's tables are plain memory; see SAFETY")]
unsafe extern "C" fn drop_pages_of(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    _data: *mut c_void,
) -> c_int {
    // SAFETY: the caller's promise.
    let info = unsafe { &*info };
    if info.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: the loader says where the program headers are, and how many.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    // SAFETY: the headers are those of this object, at this base address.
    if unsafe { is_relocated(headers, info.dlpi_addr as usize) } {
        return 0;
    }
    let Some(page) = page_size() else { return 0 };
    let is_read_only = |header: &&libc::Elf64_Phdr| {
        header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W == 0
    };
    for header in headers.iter().filter(is_read_only) {
        let from = info.dlpi_addr as usize + header.p_vaddr as usize;
        let to = from + header.p_memsz as usize;
        // Whole pages only: what shares a page with another segment stays.
        let (from, to) = (from.next_multiple_of(page), to / page * page);
        if from < to {
            let start = std::ptr::with_exposed_provenance_mut::<c_void>(from);
            // SAFETY: the range lies inside a read-only segment of a loaded file, so its mapping is
            // private, backed by that file, and was never written. Such a page is equal to the
            // file's, and the next access reads it from there again: the kernel does the same
            // whenever it is short of memory, so no program can rely on anything else. No object is
            // unloaded meanwhile, so nothing else is mapped there. (The kernel's own object, the
            // vDSO, has no file: it gives the same pages again.)
            unsafe { drop_pages(start, to - from) };
        }
    }
    0
}

/// Drops pages, also where the mapping is locked: it stays so, and locks a page that comes back.
/// Before Linux 5.18, which has no such advice, locked pages stay. A refusal changes nothing.
///
/// # Safety
/// The range is mapped, and each page in it is equal to the file that the next access reads it
/// from.
#[allow(unsafe_code, reason = "a call that rustix lacks; see SAFETY")]
unsafe fn drop_pages(start: *mut c_void, length: usize) {
    for advice in [libc::MADV_DONTNEED_LOCKED, libc::MADV_DONTNEED] {
        // SAFETY: the caller's promise: such a page does not change by being dropped.
        if unsafe { libc::madvise(start, length, advice) } == 0 {
            return;
        }
    }
}

/// The size of a page, a power of two.
#[allow(unsafe_code, reason = "a call that rustix has behind a feature; see SAFETY")]
fn page_size() -> Option<usize> {
    // SAFETY: the call takes a number and returns one.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).ok().filter(|size| size.is_power_of_two())
}

/// Whether the loader wrote to the object's code, so that its pages differ from the file.
///
/// # Safety
/// `headers` are the program headers of an object that is loaded at `base`.
#[allow(unsafe_code, reason = "the loader's tables are plain memory; see SAFETY")]
unsafe fn is_relocated(headers: &[libc::Elf64_Phdr], base: usize) -> bool {
    /// The tags of `elf(5)` that say so, and the end of the table.
    const DT_NULL: i64 = 0;
    const DT_TEXTREL: i64 = 22;
    const DT_FLAGS: i64 = 30;
    const DF_TEXTREL: u64 = 4;
    let Some(dynamic) = headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC) else {
        return false; // a static program, which was relocated by nobody
    };
    let at = base + dynamic.p_vaddr as usize;
    let table = std::ptr::with_exposed_provenance::<[u64; 2]>(at);
    let count = dynamic.p_memsz as usize / size_of::<[u64; 2]>();
    // SAFETY: the dynamic section has this address and length, is aligned to eight bytes, and is
    // part of a loaded segment. It is read entry by entry, because the loader may still be writing
    // addresses into that of an object that another thread loads.
    let entry = |index| unsafe { table.add(index).read_volatile() };
    let entries = (0..count).map(entry).map(|[tag, value]| (tag.cast_signed(), value));
    let mut entries = entries.take_while(|(tag, _)| *tag != DT_NULL);
    entries.any(|(tag, value)| {
        tag == DT_TEXTREL || tag == DT_FLAGS && value & DF_TEXTREL == DF_TEXTREL
    })
}
