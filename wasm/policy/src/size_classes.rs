//! The allocator of the component. A decision makes some hundred small values and drops them all: lists of free blocks by
//! size take and give each in a few instructions, where the allocator of std searches. It has no threads to guard against.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr::null_mut;

/// Blocks are multiples of this, and aligned to it.
const STEP: usize = 16;
/// Larger values are the business of std's allocator.
const LARGEST: usize = 1024;
/// What is taken from std's allocator at a time.
const CHUNK: usize = 32 * 1024;

#[global_allocator]
static ALLOCATOR: SizeClasses =
    SizeClasses(UnsafeCell::new(Free { lists: [null_mut(); LARGEST / STEP + 1], next: null_mut(), left: 0 }));

struct SizeClasses(UnsafeCell<Free>);

struct Free {
    /// The first free block of each size in steps; each holds the address of the next one.
    lists: [*mut u8; LARGEST / STEP + 1],
    /// The rest of the last chunk.
    next: *mut u8,
    left: usize,
}

// SAFETY: a WebAssembly module without shared memory has one thread.
unsafe impl Sync for SizeClasses {}

/// The size in steps; none if std's allocator has it.
fn class_of(layout: Layout) -> Option<usize> {
    (layout.size() <= LARGEST && layout.align() <= STEP).then(|| layout.size().div_ceil(STEP))
}

impl Free {
    /// A new block of so many steps. What is left of a chunk that is too small for it is lost: less than `LARGEST`.
    fn carve(&mut self, class: usize) -> *mut u8 {
        let size = class * STEP;
        if size > self.left {
            // SAFETY: the layout is valid and has a size.
            let chunk = unsafe { System.alloc(Layout::from_size_align_unchecked(CHUNK, STEP)) };
            if chunk.is_null() {
                return chunk;
            }
            (self.next, self.left) = (chunk, CHUNK);
        }
        let block = self.next;
        // SAFETY: at least `size` bytes are left in the chunk.
        self.next = unsafe { block.add(size) };
        self.left -= size;
        block
    }
}

// SAFETY: a block is given out once until it is given back, has at least the size and the alignment of its class, and a layout
// has the same class when it is freed as when it was made. Nothing here calls back into the allocator.
unsafe impl GlobalAlloc for SizeClasses {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(class) = class_of(layout) else { return unsafe { System.alloc(layout) } };
        let free = unsafe { &mut *self.0.get() };
        let block = free.lists[class];
        if block.is_null() {
            return free.carve(class);
        }
        free.lists[class] = unsafe { block.cast::<*mut u8>().read() };
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some(class) = class_of(layout) else { return unsafe { System.dealloc(block, layout) } };
        let free = unsafe { &mut *self.0.get() };
        unsafe { block.cast::<*mut u8>().write(free.lists[class]) };
        free.lists[class] = block;
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (class_of(layout), class_of(wanted)) {
            (None, None) => unsafe { System.realloc(block, layout, size) },
            (Some(old), Some(new)) if old == new => block,
            _ => {
                let moved = unsafe { self.alloc(wanted) };
                if !moved.is_null() {
                    unsafe { block.copy_to_nonoverlapping(moved, layout.size().min(size)) };
                    unsafe { self.dealloc(block, layout) };
                }
                moved
            }
        }
    }
}
