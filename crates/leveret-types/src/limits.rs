//! Limits that hold for every job. Input beyond them is refused with an error that names the limit.

/// Most members in one job.
pub const MEMBERS_MAX: usize = 256;
/// Most channels in one job.
pub const CHANNELS_MAX: usize = 4096;
/// Most tasks in one job.
pub const TASKS_MAX: usize = 4096;
/// Most events in one job.
pub const EVENTS_MAX: usize = 4096;
/// Most triggers in one job.
pub const TRIGGERS_MAX: usize = 4096;
/// Firings of a trigger whose times are kept until they are overwritten.
pub const FIRINGS_KEPT: u32 = 1024;
/// Most task instances in one hyperperiod.
pub const INSTANCES_MAX: usize = 1 << 20;
/// Longest name of a job, member, task, channel or group, in bytes.
pub const NAME_BYTES_MAX: usize = 64;
/// Largest message of one channel, in bytes.
pub const MESSAGE_BYTES_MAX: u64 = 1 << 30;
/// Most buffers of one channel.
pub const BUFFERS_MAX: u32 = 4096;
/// Classes of traffic beside planned frames at each port of a network, 0 to 7; a higher one is more urgent.
pub const TRAFFIC_CLASSES: u8 = 8;
