//! Control groups: of which a thread is, and what the kernel has taken from them because their quota was used up.

use leveret_types::Nanos;
use std::fs;

/// The groups of a thread that can hold it up.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Groups {
    /// Path in the hierarchy of version 2.
    pub unified: Option<String>,
    /// Path in the hierarchy of version 1 that shares out processors.
    pub cpu: Option<String>,
}

impl Groups {
    /// Those of a thread; empty where it has ended or the kernel has none.
    pub fn of(thread: u32) -> Self {
        let text = fs::read_to_string(format!("/proc/{thread}/task/{thread}/cgroup"));
        Self::parse(&text.unwrap_or_default())
    }

    /// From lines `NUMBER:CONTROLLERS:PATH`; that of version 2 has the number 0 and no controllers.
    fn parse(text: &str) -> Self {
        let lines = || {
            text.lines().filter_map(|line| {
                let (_, rest) = line.split_once(':')?;
                rest.split_once(':')
            })
        };
        let find = |wanted: &dyn Fn(&str) -> bool| {
            lines().find(|(controllers, _)| wanted(controllers)).map(|(_, path)| path.to_owned())
        };
        Self {
            unified: find(&str::is_empty),
            cpu: find(&|controllers: &str| controllers.split(',').any(|each| each == "cpu")),
        }
    }

    /// Whether the thread is in this group of version 2, or in one below it.
    pub fn is_within(&self, group: &str) -> bool {
        self.unified.as_deref().is_some_and(|own| is_within(own, group))
    }
}

/// Whether a group is this one, or below it, by their paths.
pub fn is_within(own: &str, group: &str) -> bool {
    own.strip_prefix(group).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What the kernel has taken from the groups of a thread so far because a quota was used up.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Throttled {
    /// For how long, summed up over the cores and the groups.
    pub time: Nanos,
    /// The path of the group whose quota is the smallest, if any has one.
    pub group: String,
}

/// Where hierarchies are mounted, as far as they share out processors.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Hierarchies {
    unified: Option<String>,
    cpu: Option<String>,
}

impl Hierarchies {
    /// As this process sees them.
    pub fn read() -> Self {
        Self::parse(&fs::read_to_string("/proc/self/mounts").unwrap_or_default())
    }

    /// From lines `DEVICE FOLDER TYPE OPTIONS ...`.
    fn parse(text: &str) -> Self {
        let mut found = Self::default();
        for line in text.lines() {
            let mut words = line.split(' ').skip(1);
            let (Some(folder), Some(kind), Some(options)) = (words.next(), words.next(), words.next()) else {
                continue;
            };
            match kind {
                "cgroup2" => found.unified = Some(folder.to_owned()),
                "cgroup" if options.split(',').any(|each| each == "cpu") => {
                    found.cpu = Some(folder.to_owned())
                }
                _ => {}
            }
        }
        found
    }

    /// The folders of a thread's groups that share out processors, from the innermost on.
    fn folders(&self, groups: &Groups) -> Vec<String> {
        let pairs = [(&self.cpu, &groups.cpu), (&self.unified, &groups.unified)];
        let mut all = Vec::new();
        for (root, path) in
            pairs.into_iter().filter_map(|(root, path)| Some((root.as_ref()?, path.as_ref()?)))
        {
            let mut path = path.trim_end_matches('/');
            while !path.is_empty() {
                all.push(format!("{root}{path}"));
                path = path.rsplit_once('/').map_or("", |(above, _)| above);
            }
        }
        all
    }

    /// The group of version 2, this one or one above it, that is frozen now, if any.
    pub fn frozen(&self, group: &str) -> Option<String> {
        let root = self.unified.as_deref()?;
        let mut path = group.trim_end_matches('/');
        while !path.is_empty() {
            let text = fs::read_to_string(format!("{root}{path}/cgroup.freeze")).unwrap_or_default();
            if text.trim() == "1" {
                return Some(path.to_owned());
            }
            path = path.rsplit_once('/').map_or("", |(above, _)| above);
        }
        None
    }

    /// See [`Throttled`]. Reads one small file for each group that the thread is in.
    pub fn throttled(&self, groups: &Groups) -> Throttled {
        let mut sum = Throttled::default();
        for folder in self.folders(groups) {
            let text = fs::read_to_string(format!("{folder}/cpu.stat")).unwrap_or_default();
            let time = throttled_time(&text);
            if time > Nanos::ZERO && sum.group.is_empty() {
                sum.group.clone_from(&folder);
            }
            sum.time = sum.time + time;
        }
        sum
    }

    /// How much real-time work the group of a thread may do, in how much time, if that is limited: innermost group, quota, period.
    pub fn real_time_quota(&self, groups: &Groups) -> Option<(String, Nanos, Nanos)> {
        let number = |folder: &str, file: &str| {
            let text = fs::read_to_string(format!("{folder}/{file}")).ok()?;
            text.trim().parse::<i64>().ok()
        };
        let quota = |folder: String| {
            let quota = number(&folder, "cpu.rt_runtime_us").filter(|quota| *quota >= 0)?;
            let period = number(&folder, "cpu.rt_period_us")?;
            (quota < period).then(|| (folder, Nanos(quota * 1000), Nanos(period * 1000)))
        };
        self.folders(groups).into_iter().find_map(quota)
    }
}

/// `throttled_time 1234` in nanoseconds (version 1), `throttled_usec 1234` (version 2).
fn throttled_time(text: &str) -> Nanos {
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.trim().parse::<i64>().ok())
    };
    let nanos =
        value("throttled_time ").or_else(|| value("throttled_usec ").map(|us| us.saturating_mul(1000)));
    Nanos(nanos.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_hierarchies_are_read_as_the_kernel_writes_them() {
        let groups = Groups::parse("5:freezer:/f\n2:cpu,cpuacct:/a/b\n0::/pods/x:1\n");
        let expected = Groups { unified: Some("/pods/x:1".to_owned()), cpu: Some("/a/b".to_owned()) };
        assert_eq!(groups, expected);
        let inside = ["/pods", "/pods/x:1", "/pods/x", "/", "/other"].map(|group| groups.is_within(group));
        assert_eq!(inside, [true, true, false, false, false]);
        let mounts = "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\ncgroup /c cgroup rw,cpuset 0 0\nnone /u cgroup2 rw 0 0\n";
        let hierarchies = Hierarchies::parse(mounts);
        let folders = hierarchies.folders(&groups);
        let expected = ["/sys/fs/cgroup/cpu/a/b", "/sys/fs/cgroup/cpu/a", "/u/pods/x:1", "/u/pods"];
        assert_eq!(folders, expected);
        assert_eq!(Groups::parse("nonsense"), Groups::default());
        assert!(Hierarchies::default().folders(&groups).is_empty());
    }

    #[test]
    fn a_group_is_frozen_with_the_one_above_it() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("box/inner");
        fs::create_dir_all(&inner).unwrap();
        let hierarchies = Hierarchies { unified: Some(root.path().display().to_string()), cpu: None };
        fs::write(inner.join("cgroup.freeze"), "0\n").unwrap();
        assert_eq!(hierarchies.frozen("/box/inner"), None);
        fs::write(root.path().join("box/cgroup.freeze"), "1\n").unwrap();
        assert_eq!(hierarchies.frozen("/box/inner").as_deref(), Some("/box"));
        assert_eq!((hierarchies.frozen("/"), Hierarchies::default().frozen("/box")), (None, None));
    }

    #[test]
    fn both_forms_of_the_statistics_are_understood() {
        assert_eq!(throttled_time("nr_periods 3\nnr_throttled 2\nthrottled_time 77\n"), Nanos(77));
        assert_eq!(throttled_time("usage_usec 9\nthrottled_usec 77\n"), Nanos(77_000));
        assert_eq!(throttled_time("usage_usec 9\n"), Nanos::ZERO);
    }
}
