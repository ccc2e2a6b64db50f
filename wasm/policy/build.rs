//! Gives the component a stack on which the deepest nesting that the parser accepts fits with a wide margin.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        println!("cargo:rustc-link-arg-cdylib=-zstack-size=4194304");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
