//! Where the C library enters. Rust's own `main` would first read /proc/self/maps, look at descriptors and set up a signal
//! stack, which is twenty system calls for one thread that handles no signals.

/// The program. libc exits with what it returns.
// SAFETY: no other function of the program has this name; the C library calls it once, on the first thread.
#[unsafe(no_mangle)]
extern "C" fn main() -> libc::c_int {
    crate::run()
}
