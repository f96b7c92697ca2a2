//! Jobs of real processes, from `leveret run` to their report: what must hold on every machine, whatever it is
//! doing besides. Order, counts, causes and exit codes are asserted, durations never.

mod abort;
mod blamed;
mod carried;
mod conditions;
mod crash;
mod ends;
mod examples;
mod groups;
mod harness;
mod header;
mod hostile;
mod install;
mod interface;
mod interrupt;
mod job;
mod kill;
mod leave;
mod mpirt;
mod mpirt_modes;
mod mpirt_time;
mod odd;
mod output;
mod planted;
mod refused;
mod ring;
mod sampling;
mod stalls;
mod starved;
mod suite;
mod surface;
mod tutorial;
mod wrapped;
