//! Tells the linker which functions a run spends its time in. They are put side by side, because what of a program lies
//! in memory is counted by pieces of 64 KiB in which anything was called: spread over the whole of it, nearly all do.
//! Nothing else is made here.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=link/hot.ld");
    let is = |name: &str, wanted: &str| env::var(name).is_ok_and(|value| value == wanted);
    let is_gnu = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    // Somebody who takes a linker of his own may have one that knows no scripts, as mold does not.
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let is_usual = !flags.contains("fuse-ld") && !flags.contains("linker-flavor");
    if is("PROFILE", "release") && is_gnu && is_usual {
        let folder = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo:rustc-link-arg-bins=-Wl,-T,{folder}/link/hot.ld");
    }
}
