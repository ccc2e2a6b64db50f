//! What the command made where the policy wants nothing made. Mirror of `core/exec/grants/remove_planted.ts`.

use super::record::Reasoned;
use std::io;
use std::path::Path;

/// Removes them and gives the ones that were there. No mount can stand on a name that does not exist, so the kernel can't
/// refuse them. An error: what stays must not go unnoticed.
pub fn remove(absent: &[Reasoned]) -> io::Result<Vec<&Reasoned>> {
    let mut removed = Vec::new();
    for place in absent {
        let path = Path::new(&place.path);
        let Ok(found) = path.symlink_metadata() else { continue };
        // A folder that became a link leads to a file of somebody else.
        let folder = path.parent().unwrap_or(path);
        if std::fs::canonicalize(folder)? != folder {
            continue;
        }
        // A link is removed and not followed, here and below.
        if found.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }?;
        removed.push(place);
    }
    Ok(removed)
}
