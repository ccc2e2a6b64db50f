//! The parser over the scripts of this machine: what bash accepts, it accepts, but for at most one in a hundred.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const FOLDERS: [&str; 7] = [
    "/usr/bin",
    "/usr/sbin",
    "/etc",
    "/usr/share/bash-completion",
    "/usr/lib/git-core",
    "/var/lib/dpkg/info",
    "/usr/share/doc",
];
/// Scripts that are looked at, and bytes of one.
const MOST: usize = 600;
const LONGEST: u64 = 200_000;

fn scripts(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort();
    for path in paths {
        let Ok(kind) = path.symlink_metadata() else { continue };
        if found.len() >= MOST {
            return;
        } else if kind.is_dir() {
            scripts(&path, found);
        } else if kind.is_file() && kind.len() < LONGEST && is_script(&path) {
            found.push(path);
        }
    }
}

fn is_script(path: &Path) -> bool {
    use std::io::Read;
    let mut head = [0u8; 32];
    let Ok(length) = std::fs::File::open(path).and_then(|mut file| file.read(&mut head)) else { return false };
    let head = String::from_utf8_lossy(&head[..length]).into_owned();
    let shell = ["#!/bin/sh", "#! /bin/sh", "#!/bin/bash", "#!/usr/bin/bash", "#!/usr/bin/env bash"];
    shell.iter().any(|start| head.starts_with(start)) || path.to_string_lossy().contains("/completions/")
}

#[test]
fn c14_the_scripts_of_the_system_parse() {
    let Some(bash) = ["/bin/bash", "/usr/bin/bash"].into_iter().find(|path| Path::new(path).exists()) else { return };
    let mut found = Vec::new();
    FOLDERS.iter().for_each(|folder| scripts(Path::new(folder), &mut found));
    let (mut accepted, mut refused) = (0, Vec::new());
    for path in &found {
        let Ok(source) = std::fs::read_to_string(path) else { continue };
        let ours = cordon_policy::shell::parse(&source);
        if let Err(fault) = ours {
            let theirs =
                Command::new(bash).args(["--norc", "-O", "extglob", "-n"]).arg(path).stderr(Stdio::null()).status();
            if theirs.is_ok_and(|status| status.success()) {
                refused.push(format!("{}: {} at {:?}", path.display(), fault.message, fault.span));
            }
        } else {
            accepted += 1;
        }
    }
    println!("{accepted} of {} parse, {} are refused that bash accepts", found.len(), refused.len());
    assert!(refused.len() * 100 <= found.len(), "{}", refused.join("\n"));
}
