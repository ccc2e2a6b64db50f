//! Parses each file named on stdin (one a line); prints one line of JSON for each: what came of it, and how many steps it took.

use std::io::BufRead;

fn main() {
    for name in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Ok(bytes) = std::fs::read(&name) else { continue };
        let Ok(source) = String::from_utf8(bytes) else {
            println!("{}", serde_json::json!({ "file": name, "code": "shell.encoding" }));
            continue;
        };
        let (result, steps) = cordon_policy::shell::parse_counting(&source);
        let made = match result {
            Ok(_) => serde_json::json!({ "file": name, "steps": steps, "bytes": source.len() }),
            Err(fault) => {
                let line = source[..fault.span[0] as usize].matches('\n').count() + 1;
                serde_json::json!({ "file": name, "code": fault.code, "message": fault.message, "line": line })
            }
        };
        println!("{made}");
    }
}
