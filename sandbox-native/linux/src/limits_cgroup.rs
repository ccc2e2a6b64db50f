//! Control groups of one run: found, made, entered, read and removed. Version 1 has a tree for each controller and a group is
//! made below the own one; version 2 has one tree, in which a group with processes can have no limited children, so the
//! group is made beside the own one, below the nearest ancestor that hands the controllers on.

use crate::enforced::Failure;
use crate::limits::{Wanted, io_failure};
use crate::limits_tree::{Place, Version, place_of};
use crate::maker::Maker;
use crate::privileges;
use rustix::fs::{CWD, Mode, OFlags};
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// What a control group can bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Controller {
    Memory,
    Processes,
    Cpu,
}

impl Controller {
    pub const ALL: [Controller; 3] = [Controller::Memory, Controller::Processes, Controller::Cpu];

    /// As the kernel names it.
    pub fn name(self) -> &'static str {
        match self {
            Controller::Memory => "memory",
            Controller::Processes => "pids",
            Controller::Cpu => "cpu",
        }
    }
}

/// One folder that was made.
struct Made {
    folder: PathBuf,
    version: Version,
    /// Its `cgroup.procs`, opened outside: whoever holds it may enter, whatever its own rights are by then.
    entrance: OwnedFd,
    holds: Vec<Controller>,
}

/// All folders of one run; removed when this is dropped.
pub struct Group {
    made: Vec<Made>,
    why_not: BTreeMap<Controller, String>,
}

impl Group {
    /// Makes what is wanted as far as it can be had, and first removes what runs that were killed have left.
    pub fn make(wanted: &Wanted) -> Group {
        let mut group = Group { made: Vec::new(), why_not: BTreeMap::new() };
        let asked: Vec<Controller> =
            Controller::ALL.into_iter().filter(|controller| wanted.of_group(*controller).is_some()).collect();
        if privileges::are_an_outer_cordons() {
            let why = "another cordon around this one keeps the control groups";
            group.why_not = asked.into_iter().map(|controller| (controller, why.to_owned())).collect();
            return group;
        }
        let mut in_one_tree = Vec::new();
        for controller in asked {
            match place_of(controller) {
                Ok(place) if place.version == Version::One => group.add(&place, &[controller], wanted),
                Ok(place) => in_one_tree.push((place, controller)),
                Err(failure) => drop(group.why_not.insert(controller, failure.why)),
            }
        }
        if let Some((place, _)) = in_one_tree.first() {
            let controllers: Vec<Controller> = in_one_tree.iter().map(|(_, controller)| *controller).collect();
            group.add_shared(place, &controllers, wanted);
        }
        group
    }

    fn add_shared(&mut self, place: &Place, controllers: &[Controller], wanted: &Wanted) {
        match place.handing_on(controllers) {
            Ok((found, held)) => {
                for controller in controllers.iter().filter(|controller| !held.contains(controller)) {
                    let why =
                        format!("\"{}\" has no {} controller to hand on", found.folder.display(), controller.name());
                    self.why_not.insert(*controller, why);
                }
                self.add(&found, &held, wanted);
            }
            Err(failure) => {
                for controller in controllers {
                    self.why_not.insert(*controller, failure.why.clone());
                }
            }
        }
    }

    fn add(&mut self, place: &Place, controllers: &[Controller], wanted: &Wanted) {
        for stale in Maker::stale_in(&place.folder) {
            // One that has processes can't be removed, and another run may be at it too.
            let _ = std::fs::remove_dir(stale);
        }
        match Made::new(place, controllers, wanted) {
            Ok(made) => self.made.push(made),
            Err(failure) => {
                for controller in controllers {
                    self.why_not.insert(*controller, failure.why.clone());
                }
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.made.is_empty()
    }

    pub fn has(&self, controller: Controller) -> bool {
        self.that_holds(controller).is_some()
    }

    /// Why there is no group for it.
    pub fn why_not(&self, controller: Controller) -> String {
        self.why_not.get(&controller).cloned().unwrap_or_else(|| "none was asked for".into())
    }

    /// The version of the tree that bounds it, for the facts of a machine.
    pub fn version(&self, controller: Controller) -> Option<Version> {
        self.that_holds(controller).map(|made| made.version)
    }

    /// Puts this process in, and so all that it will start.
    pub fn enter(&self) -> BTreeMap<Controller, Result<(), Failure>> {
        let mut entered = BTreeMap::new();
        for made in &self.made {
            // 0 is the writer, in whichever pid namespace it is.
            let result = rustix::io::write(&made.entrance, b"0").map(drop);
            for controller in &made.holds {
                let failed = Failure::at(format!("enter \"{}\"", made.folder.display()));
                entered.insert(*controller, result.map_err(failed));
            }
        }
        entered
    }

    /// How many processes the kernel killed because the memory was used up; none if it did not come to that.
    pub fn memory_kills(&self) -> Option<u64> {
        let made = self.that_holds(Controller::Memory)?;
        let file = match made.version {
            Version::One => "memory.oom_control",
            Version::Two => "memory.events",
        };
        made.count(file, "oom_kill")
    }

    /// How many forks were refused.
    pub fn refused_forks(&self) -> Option<u64> {
        self.that_holds(Controller::Processes)?.count("pids.events", "max")
    }

    fn that_holds(&self, controller: Controller) -> Option<&Made> {
        self.made.iter().find(|made| made.holds.contains(&controller))
    }
}

impl Made {
    fn new(place: &Place, controllers: &[Controller], wanted: &Wanted) -> Result<Made, Failure> {
        let folder = place.folder.join(Maker::this_process().to_string());
        let at = |what: &str| format!("{what} \"{}\"", folder.display());
        // Asked first: an outer sandbox would report a try that it refuses.
        rustix::fs::access(&place.folder, rustix::fs::Access::WRITE_OK).map_err(Failure::at(at("mkdir")))?;
        std::fs::create_dir(&folder).map_err(|error| io_failure(&at("mkdir"), &error))?;
        let fill = || -> Result<OwnedFd, Failure> {
            for controller in controllers {
                let Some(value) = wanted.of_group(*controller) else { continue };
                for (file, text) in place.settings(*controller, value) {
                    write(&folder.join(file), &text)?;
                }
            }
            let procs = folder.join("cgroup.procs");
            rustix::fs::openat(CWD, &procs, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())
                .map_err(Failure::at(at("open cgroup.procs of")))
        };
        match fill() {
            Ok(entrance) => Ok(Made { version: place.version, entrance, holds: controllers.to_vec(), folder }),
            Err(failure) => {
                remove(&folder);
                Err(failure)
            }
        }
    }

    fn count(&self, file: &str, name: &str) -> Option<u64> {
        let text = std::fs::read_to_string(self.folder.join(file)).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        line.trim().parse().ok().filter(|count| *count > 0)
    }
}

/// A setting that this kernel does not have (swap is not counted everywhere) bounds nothing and harms nothing.
fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let optional = ["memory.memsw.limit_in_bytes", "memory.swap.max"];
    match std::fs::write(file, text) {
        Err(error) if optional.iter().any(|name| file.ends_with(name)) && !file.exists() => drop(error),
        Err(error) => return Err(io_failure(&format!("write \"{}\"", file.display()), &error)),
        Ok(()) => {}
    }
    Ok(())
}

impl Drop for Group {
    fn drop(&mut self) {
        for made in &self.made {
            remove(&made.folder);
        }
    }
}

/// How often a removal is tried: the last process has ended, but the kernel may still hold it for a moment.
const REMOVALS: u32 = 200;

fn remove(folder: &Path) {
    for _ in 0..REMOVALS {
        match std::fs::remove_dir(folder) {
            Err(error) if error.kind() == std::io::ErrorKind::ResourceBusy => {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            // What is left is empty, and the next run's to remove.
            _ => return,
        }
    }
}
