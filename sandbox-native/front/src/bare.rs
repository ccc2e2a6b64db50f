//! All that is `unsafe`: the entry, the texts that the kernel laid on the stack, and what a C library would bring.

use crate::Start;
use core::ffi::CStr;

// The registers and the stack are as the kernel, or the dynamic linker after it, left them for Bun; what Bun's entry reads of
// them is kept: the stack pointer, and the function to run at exit in rdx or x0.
#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".globl front_start",
    "front_start:",
    "xor ebp, ebp",
    "mov rdi, rsp",
    // Twice, for the alignment of a call.
    "push rdx",
    "push rdx",
    "call {enter}",
    "pop rdx",
    "pop rdx",
    "jmp [rip + settings]",
    enter = sym enter,
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".globl front_start",
    "front_start:",
    "mov x29, xzr",
    "mov x30, xzr",
    "mov x20, x0",
    "mov x0, sp",
    "bl {enter}",
    "mov x0, x20",
    "mov x30, xzr",
    "adrp x16, settings",
    "add x16, x16, :lo12:settings",
    "ldr x16, [x16]",
    "br x16",
    enter = sym enter,
);

unsafe extern "C" {
    /// Where the front ends and what the bundler appended begins (front.ld).
    static settings: u8;
}

/// The largest that is appended; the segment has at least as much after `settings`.
const APPENDED_BYTES: usize = 4096;

extern "C" fn enter(stack: *mut *const u8) {
    // SAFETY: at a program's entry the stack holds the number of words, the words, null, the variables, null (elf(5)). They
    // stay for as long as the program does.
    let (start, end) = unsafe {
        let count = *stack.cast::<usize>();
        let words = stack.add(1);
        let variables = words.add(count + 1);
        let mut length = 0;
        while !(*variables.add(length)).is_null() {
            length += 1;
        }
        let start = Start {
            words: core::slice::from_raw_parts(words, count),
            variables: core::slice::from_raw_parts(variables, length),
        };
        (start, variables.add(length))
    };
    let _ = crate::become_launcher(&start);
    if let Some(added) = crate::engine_options(&start) {
        // SAFETY: behind the null stand pairs of words, the last of which begins with a zero, on a stack that is this thread's.
        let tail = unsafe {
            let end = end.cast::<usize>();
            let mut length = 1;
            while *end.add(length) != front::AT_NULL {
                length += 2;
            }
            core::slice::from_raw_parts_mut(end, length)
        };
        front::add_variables(tail, added.map(|text| text.as_ptr().addr()));
    }
}

/// A text of the start.
pub fn text<'a>(pointer: *const u8) -> &'a CStr {
    // SAFETY: only pointers of `Start` come here: texts that end in null and stay for as long as the program does.
    unsafe { CStr::from_ptr(pointer.cast()) }
}

/// What the bundler appended, and zeros after it.
pub fn appended() -> &'static [u8] {
    // SAFETY: the bundler makes the segment so large, and nothing can write to it.
    unsafe { core::slice::from_raw_parts(&raw const settings, APPENDED_BYTES) }
}

/// Becomes another program with the variables of this one. Comes back when that failed.
pub fn execute(program: &CStr, argv: &[*const u8], variables: &[*const u8]) {
    // SAFETY: both lists are of texts that end in null, and end in null: `argv` has a free slot, and a null stands behind the
    // variables on the stack.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        core::arch::asm!(
            "syscall",
            inout("rax") 59_usize => _,
            in("rdi") program.as_ptr(),
            in("rsi") argv.as_ptr(),
            in("rdx") variables.as_ptr(),
            out("rcx") _,
            out("r11") _,
        );
        #[cfg(target_arch = "aarch64")]
        core::arch::asm!(
            "svc 0",
            in("x8") 221_usize,
            inout("x0") program.as_ptr() => _,
            in("x1") argv.as_ptr(),
            in("x2") variables.as_ptr(),
        );
    }
}

/// Only a mistake in the front comes here, before anything was done.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        // SAFETY: it ends this program by SIGILL or SIGTRAP.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            core::arch::asm!("ud2");
            #[cfg(target_arch = "aarch64")]
            core::arch::asm!("brk 1");
        }
    }
}

// What the compiler takes for granted, as C has it.

// SAFETY: the names are those that the compiler calls, and no C library is linked that has them too.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    for at in 0..count {
        // SAFETY: as C demands of the caller.
        unsafe { *to.add(at) = *from.add(at) };
    }
    to
}

// SAFETY: as above.
#[unsafe(no_mangle)]
unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    let forward = to.cast_const() <= from;
    for step in 0..count {
        let at = if forward { step } else { count - 1 - step };
        // SAFETY: as C demands of the caller.
        unsafe { *to.add(at) = *from.add(at) };
    }
    to
}

// SAFETY: as above.
#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, byte: i32, count: usize) -> *mut u8 {
    for at in 0..count {
        // SAFETY: as C demands of the caller. Its value is that of the lowest byte.
        unsafe { *to.add(at) = byte as u8 };
    }
    to
}

// SAFETY: as above.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(one: *const u8, other: *const u8, count: usize) -> i32 {
    for at in 0..count {
        // SAFETY: as C demands of the caller.
        let (a, b) = unsafe { (*one.add(at), *other.add(at)) };
        if a != b {
            return i32::from(a) - i32::from(b);
        }
    }
    0
}

// SAFETY: as above.
#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(one: *const u8, other: *const u8, count: usize) -> i32 {
    // SAFETY: the caller's promise is the same.
    unsafe { memcmp(one, other, count) }
}

// SAFETY: as above.
#[unsafe(no_mangle)]
unsafe extern "C" fn strlen(text: *const u8) -> usize {
    let mut length = 0;
    // SAFETY: as C demands of the caller: a null ends the text.
    while unsafe { *text.add(length) } != 0 {
        length += 1;
    }
    length
}
