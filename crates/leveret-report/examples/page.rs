//! Prints the page of a made-up run: `cargo run -p leveret-report --example page > report.html`.

use leveret_report::synthetic::{A, B, C, Plant, Ring, ring};
use leveret_report::{Report, html};
use leveret_types::Nanos;

fn main() {
    let plants = vec![
        (700, Plant::Hog { task: B, priority: 90, by: Nanos::from_micros(260) }),
        (1500, Plant::PageFault { task: A, by: Nanos::from_micros(140), logged: true }),
        (2200, Plant::Overrun { task: C, by: Nanos::from_millis(6) }),
    ];
    let record = ring(&Ring { rounds: 5000, sizes: vec![4, 1024], stalls: true, plants, ..Ring::default() });
    print!("{}", html::page(&Report::of(&record)));
}
