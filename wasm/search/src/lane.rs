//! Sixteen bytes at once: the SIMD of WebAssembly, and the same in plain Rust for native builds, which only tests are.

#[cfg(target_arch = "wasm32")]
mod imp {
    use core::arch::wasm32::{
        i8x16_bitmask, u8x16_eq, u8x16_shr, u8x16_splat, u8x16_swizzle, v128, v128_and, v128_any_true, v128_load,
        v128_or,
    };

    /// Sixteen bytes.
    #[derive(Clone, Copy, Debug)]
    pub struct Lane(v128);

    impl Lane {
        pub fn splat(byte: u8) -> Self {
            Self(u8x16_splat(byte))
        }
        pub fn of(bytes: &[u8; 16]) -> Self {
            // SAFETY: the reference is to 16 bytes, and the load needs no alignment.
            Self(unsafe { v128_load(bytes.as_ptr().cast()) })
        }
        pub fn and(self, other: Self) -> Self {
            Self(v128_and(self.0, other.0))
        }
        pub fn or(self, other: Self) -> Self {
            Self(v128_or(self.0, other.0))
        }
        pub fn equal(self, other: Self) -> Self {
            Self(u8x16_eq(self.0, other.0))
        }
        pub fn upper_nibbles(self) -> Self {
            Self(u8x16_shr(self.0, 4))
        }
        pub fn look_up(self, table: Self) -> Self {
            Self(u8x16_swizzle(table.0, self.0))
        }
        pub fn any(self) -> bool {
            v128_any_true(self.0)
        }
        pub fn tops(self) -> u32 {
            u32::from(i8x16_bitmask(self.0))
        }
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod imp {
    use core::array::from_fn;

    /// Sixteen bytes.
    #[derive(Clone, Copy, Debug)]
    pub struct Lane([u8; 16]);

    impl Lane {
        pub fn splat(byte: u8) -> Self {
            Self([byte; 16])
        }
        pub fn of(bytes: &[u8; 16]) -> Self {
            Self(*bytes)
        }
        pub fn and(self, other: Self) -> Self {
            Self(from_fn(|at| self.0[at] & other.0[at]))
        }
        pub fn or(self, other: Self) -> Self {
            Self(from_fn(|at| self.0[at] | other.0[at]))
        }
        pub fn equal(self, other: Self) -> Self {
            Self(from_fn(|at| if self.0[at] == other.0[at] { 0xFF } else { 0 }))
        }
        pub fn upper_nibbles(self) -> Self {
            Self(self.0.map(|byte| byte >> 4))
        }
        pub fn look_up(self, table: Self) -> Self {
            Self(self.0.map(|at| table.0.get(usize::from(at)).copied().unwrap_or(0)))
        }
        pub fn any(self) -> bool {
            self.0 != [0; 16]
        }
        pub fn tops(self) -> u32 {
            self.0.iter().enumerate().fold(0, |bits, (at, byte)| bits | u32::from(byte >> 7) << at)
        }
    }
}

pub use imp::Lane;

impl Lane {
    /// Bytes in a lane.
    pub const BYTES: usize = 16;
}
