//! Where a control group of one's own may be made: the trees that are mounted, and the own place in each.

use crate::enforced::Failure;
use crate::limits::io_failure;
use crate::limits_cgroup::Controller;
use std::path::{Path, PathBuf};

/// Which of the two interfaces of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    One,
    Two,
}

/// A folder that groups are made in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub version: Version,
    pub folder: PathBuf,
    /// The own group and those between it and `folder`: their limits are left behind, so what they say must be kept.
    left: Vec<PathBuf>,
    /// Where the tree is mounted: nothing above it can be seen.
    top: PathBuf,
}

/// How long the kernel counts before it compares, in microseconds; its own default.
const CPU_PERIOD: u64 = 100_000;

impl Place {
    /// The files of a new group and what to write, in this order.
    pub fn settings(&self, controller: Controller, value: u64) -> Vec<(&'static str, String)> {
        match (self.version, controller) {
            (Version::One, Controller::Memory) => vec![
                ("memory.limit_in_bytes", value.to_string()),
                // Memory and swap together; never less than memory alone, so after it.
                ("memory.memsw.limit_in_bytes", value.to_string()),
            ],
            (Version::Two, Controller::Memory) => {
                let bytes = self.strictest("memory.max", value, |text| text.trim().parse().ok());
                vec![("memory.max", bytes.to_string()), ("memory.swap.max", "0".into())]
            }
            // One more, for the process that watches over the command.
            (Version::One, Controller::Processes) => vec![("pids.max", value.saturating_add(1).to_string())],
            (Version::Two, Controller::Processes) => {
                let count = self.strictest("pids.max", value.saturating_add(1), |text| text.trim().parse().ok());
                vec![("pids.max", count.to_string())]
            }
            (Version::One, Controller::Cpu) => vec![
                ("cpu.cfs_period_us", CPU_PERIOD.to_string()),
                ("cpu.cfs_quota_us", (value.saturating_mul(CPU_PERIOD) / 100).to_string()),
            ],
            (Version::Two, Controller::Cpu) => {
                let quota = self.strictest("cpu.max", value.saturating_mul(CPU_PERIOD) / 100, quota_of);
                vec![("cpu.max", format!("{quota} {CPU_PERIOD}"))]
            }
        }
    }

    /// The wanted value, or what a group that is left behind had as a stricter one: nobody gets out of a limit by naming a
    /// wider one.
    fn strictest(&self, file: &str, wanted: u64, parse: impl Fn(&str) -> Option<u64>) -> u64 {
        let texts = self.left.iter().filter_map(|folder| std::fs::read_to_string(folder.join(file)).ok());
        texts.filter_map(|text| parse(&text)).fold(wanted, u64::min)
    }

    /// The nearest ancestor in version 2 that can hand on all of these controllers, or else as many as one can.
    pub fn handing_on(&self, controllers: &[Controller]) -> Result<(Place, Vec<Controller>), Failure> {
        let ancestors: Vec<Place> = self.ancestors();
        let handed = |place: &Place| listed(&place.folder, "cgroup.subtree_control", controllers);
        let writable = |place: &&Place| is_writable(&place.folder);
        // Those that do already come first: what is switched on stays on for others.
        if let Some(ready) = ancestors.iter().filter(writable).find(|place| handed(place).len() == controllers.len()) {
            return Ok((ready.clone(), controllers.to_vec()));
        }
        for place in ancestors.iter().filter(writable) {
            for controller in listed(&place.folder, "cgroup.controllers", controllers) {
                // EBUSY where processes are in it: then another place is looked for.
                let _ = std::fs::write(place.folder.join("cgroup.subtree_control"), format!("+{}", controller.name()));
            }
            if handed(place).len() == controllers.len() {
                return Ok((place.clone(), controllers.to_vec()));
            }
        }
        let most = ancestors.iter().filter(writable).max_by_key(|place| handed(place).len());
        match most.map(|place| (place.clone(), handed(place))) {
            Some((place, held)) if !held.is_empty() => Ok((place, held)),
            _ => Err(Failure::plain(format!(
                "no group at or above \"{}\" is delegated to this user with the controllers",
                self.folder.display()
            ))),
        }
    }

    /// The own group and each above it, with what moving there would leave behind.
    fn ancestors(&self) -> Vec<Place> {
        let folders = self.folder.ancestors().take_while(|folder| folder.starts_with(&self.top));
        let folders: Vec<&Path> = folders.collect();
        let place = |(at, folder): (usize, &&Path)| Place {
            version: self.version,
            folder: folder.to_path_buf(),
            left: folders.iter().take(at).map(|folder| folder.to_path_buf()).collect(),
            top: self.top.clone(),
        };
        folders.iter().enumerate().map(place).collect()
    }
}

/// `cpu.max` as a quota in `CPU_PERIOD`: "max 100000" or "50000 100000".
fn quota_of(text: &str) -> Option<u64> {
    let (quota, period) = text.trim().split_once(' ')?;
    let (quota, period): (u64, u64) = (quota.parse().ok()?, period.parse().ok()?);
    quota.saturating_mul(CPU_PERIOD).checked_div(period)
}

fn listed(folder: &Path, file: &str, wanted: &[Controller]) -> Vec<Controller> {
    let text = std::fs::read_to_string(folder.join(file)).unwrap_or_default();
    let names: Vec<&str> = text.split_ascii_whitespace().collect();
    wanted.iter().copied().filter(|controller| names.contains(&controller.name())).collect()
}

/// A process is moved by whoever may write to `cgroup.procs` of the ancestor that both groups have in common.
fn is_writable(folder: &Path) -> bool {
    let may = |path: &Path| rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
    may(folder) && may(&folder.join("cgroup.procs"))
}

/// The own group in the tree of this controller.
pub fn place_of(controller: Controller) -> Result<Place, Failure> {
    let read = |path: &str| std::fs::read_to_string(path).map_err(|error| io_failure(&format!("read {path}"), &error));
    find_place(&read("/proc/self/cgroup")?, &read("/proc/self/mountinfo")?, controller)
}

fn find_place(groups: &str, mounts: &str, controller: Controller) -> Result<Place, Failure> {
    // "ID:CONTROLLERS:PATH"; version 2 has the id 0 and no controllers (cgroups(7)).
    let mut lines = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':');
        Some((fields.next()?, fields.next()?, fields.next()?))
    });
    let named = |names: &str| names.split(',').any(|name| name == controller.name());
    let of_its_own = lines.clone().find(|(_, names, _)| named(names));
    let (version, path) = match of_its_own {
        Some((_, _, path)) => (Version::One, path),
        None => match lines.find(|(id, _, _)| *id == "0") {
            Some((_, _, path)) => (Version::Two, path),
            None => return Err(Failure::plain(format!("this kernel has no {} control groups", controller.name()))),
        },
    };
    let found = mounts.lines().find_map(|line| place_in_mount(line, version, controller, path));
    found.ok_or_else(|| {
        Failure::plain(format!("the {} control group of this process is not mounted", controller.name()))
    })
}

/// The group at `path`, if this line of proc_pid_mountinfo(5) is a mount of its tree that shows it.
fn place_in_mount(line: &str, version: Version, controller: Controller, path: &str) -> Option<Place> {
    let (before, after) = line.split_once(" - ")?;
    let mut after = after.split(' ');
    let (kind, options) = (after.next()?, after.nth(1)?);
    let fits = match version {
        Version::One => kind == "cgroup" && options.split(',').any(|option| option == controller.name()),
        Version::Two => kind == "cgroup2",
    };
    let mut fields = before.split(' ').skip(3);
    let (root, top) = (fields.next()?, fields.next()?);
    let below = Path::new(path).strip_prefix(root).ok()?;
    // "/../x" is a group outside of the namespace's root, which nothing here shows.
    let inside = !below.components().any(|part| part == std::path::Component::ParentDir);
    let folder = if below.as_os_str().is_empty() { PathBuf::from(top) } else { Path::new(top).join(below) };
    (fits && inside).then(|| Place { version, folder, left: Vec::new(), top: top.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIFIED: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
    const LEGACY: &str = "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
                          39 31 0:36 /docker/7 /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n";

    fn found(groups: &str, mounts: &str, controller: Controller) -> Result<(Version, PathBuf), String> {
        find_place(groups, mounts, controller).map(|place| (place.version, place.folder)).map_err(|failure| failure.why)
    }

    #[test]
    fn the_own_group_is_found_in_the_one_tree_of_version_2() {
        let place = found("0::/user.slice/run.scope\n", UNIFIED, Controller::Memory);
        assert_eq!(place, Ok((Version::Two, "/sys/fs/cgroup/user.slice/run.scope".into())));
        assert_eq!(found("0::/\n", UNIFIED, Controller::Cpu), Ok((Version::Two, "/sys/fs/cgroup".into())));
        assert!(found("0::/../beside\n", UNIFIED, Controller::Cpu).is_err_and(|why| why.contains("not mounted")));
    }

    #[test]
    fn a_controller_with_a_tree_of_its_own_is_found_there_and_below_the_root_of_the_mount() {
        let groups = "8:pids:/docker/7/inner\n1:cpu,cpuacct:/\n0::/\n";
        let pids = found(groups, LEGACY, Controller::Processes);
        assert_eq!(pids, Ok((Version::One, "/sys/fs/cgroup/pids/inner".into())));
        assert_eq!(found(groups, LEGACY, Controller::Cpu), Ok((Version::One, "/sys/fs/cgroup/cpu,cpuacct".into())));
        assert!(found(groups, LEGACY, Controller::Memory).is_err_and(|why| why.contains("not mounted")));
        assert!(found("8:pids:/other\n", LEGACY, Controller::Processes).is_err());
        assert!(found("", LEGACY, Controller::Processes).is_err_and(|why| why.contains("no pids control groups")));
    }

    #[test]
    fn a_share_of_the_processors_is_read_in_any_period() {
        assert_eq!(quota_of("50000 100000\n"), Some(50_000));
        assert_eq!(quota_of("10000 20000\n"), Some(50_000));
        assert_eq!(quota_of("max 100000\n"), None);
    }

    /// Path, what it hands on, and its other files.
    type Folder<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);

    /// A tree of files that looks like one of version 2.
    fn made_up(name: &str, folders: &[Folder<'_>]) -> Place {
        let top = std::env::temp_dir().join(format!("limits-{}-{name}", std::process::id()));
        for (folder, handed_on, files) in folders {
            let folder = top.join(folder);
            std::fs::create_dir_all(&folder).expect("mkdir");
            let usual = [("cgroup.procs", ""), ("cgroup.controllers", ""), ("cgroup.subtree_control", *handed_on)];
            for (file, text) in usual.iter().chain(files.iter()) {
                std::fs::write(folder.join(file), text).expect("write");
            }
        }
        let folder = folders.last().map_or(top.clone(), |(folder, ..)| top.join(folder));
        Place { version: Version::Two, folder, left: Vec::new(), top }
    }

    #[test]
    fn the_nearest_ancestor_that_hands_all_on_is_taken_and_the_limits_left_behind_are_kept() {
        let all = "cpu memory pids\n";
        let own = made_up(
            "beside",
            &[
                ("", all, &[]),
                ("slice", all, &[("memory.max", "max\n"), ("pids.max", "70\n")]),
                ("slice/part", "memory\n", &[("memory.max", "1000000\n"), ("pids.max", "max\n")]),
                ("slice/part/scope", "", &[("memory.max", "max\n"), ("pids.max", "90\n"), ("cpu.max", "max 100000")]),
            ],
        );
        let (place, held) = own.handing_on(&Controller::ALL).expect("slice");
        assert_eq!((place.folder.clone(), held.len()), (own.top.join("slice"), 3));
        let settings = |controller, value| place.settings(controller, value);
        assert_eq!(settings(Controller::Memory, 5_000_000)[0], ("memory.max", "1000000".into()));
        assert_eq!(settings(Controller::Memory, 500)[0], ("memory.max", "500".into()));
        assert_eq!(settings(Controller::Processes, 200)[0], ("pids.max", "90".into()));
        assert_eq!(settings(Controller::Cpu, 50)[0], ("cpu.max", "50000 100000".into()));
        let (nearer, _) = own.handing_on(&[Controller::Memory]).expect("part");
        assert_eq!(nearer.folder, own.top.join("slice/part"));
        std::fs::remove_dir_all(&own.top).expect("remove");
    }

    #[test]
    fn where_not_all_can_be_had_the_place_with_most_is_taken_and_none_is_an_error() {
        let own = made_up("most", &[("", "memory\n", &[]), ("scope", "", &[])]);
        let (place, held) = own.handing_on(&Controller::ALL).expect("the top");
        assert_eq!((place.folder.clone(), held), (own.top.clone(), vec![Controller::Memory]));
        std::fs::write(own.top.join("cgroup.subtree_control"), "").expect("write");
        assert!(own.handing_on(&Controller::ALL).is_err_and(|failure| failure.why.contains("delegated")));
        std::fs::remove_dir_all(&own.top).expect("remove");
    }
}
