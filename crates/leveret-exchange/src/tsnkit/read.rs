//! From the two files to traffic.

use leveret_plan::network::{Stream, Traffic, TrafficError};
use leveret_topology::{Forwarding, FrameFormat, Link, Network, Node, NodeKind};
use leveret_types::{BitRate, ByteSize, Nanos, NodeId};
use std::collections::BTreeMap;

/// Where a file is wrong, and how.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}, line {line}: {fault}")]
pub struct TsnkitError {
    /// Which of the files, by the name that the caller gave.
    pub file: String,
    /// From 1; the header is line 1.
    pub line: u64,
    /// What is wrong.
    pub fault: TsnkitFault,
}

/// What is wrong in a file.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TsnkitFault {
    /// Not a CSV file at all.
    #[error("this is no line of comma-separated values: {0}")]
    Csv(String),
    /// Another header.
    #[error("the header must be \"{expected}\", and column \"{missing}\" is missing")]
    Header {
        /// All columns.
        expected: &'static str,
        /// The first that is not there.
        missing: &'static str,
    },
    /// No line.
    #[error("there is nothing after the header; a file describes at least one")]
    Empty,
    /// Not a number.
    #[error("{column} is \"{text}\"; it must be a whole number from {least} to {most}")]
    Number {
        /// Which column.
        column: &'static str,
        /// What stands there.
        text: String,
        /// The least.
        least: i64,
        /// The most.
        most: i64,
    },
    /// Not a pair of nodes.
    #[error("link is \"{0}\"; it must be a pair of nodes such as \"(0, 1)\"")]
    Pair(String),
    /// Not a list of nodes.
    #[error("dst is \"{0}\"; it must be a list of nodes such as \"[12]\"")]
    List(String),
    /// A rate that the collection does not know.
    #[error("rate is {0}; it must be 1 (1 Gbit/s), 10 (100 Mbit/s), 100 (10 Mbit/s) or 1000 (1 Mbit/s)")]
    Rate(i64),
    /// A stream to or from a node that no link has.
    #[error("node {0} has no link in the topology")]
    NoNode(u32),
    /// A link that the topology does not have.
    #[error("the topology has no link ({0}, {1})")]
    NoLink(u32, u32),
    /// A stream that the traffic does not have.
    #[error("there is no stream {0}")]
    NoStream(String),
    /// A route that leads elsewhere.
    #[error("the route of stream {0} does not lead from its source to its targets, or leads further")]
    Route(String),
    /// No offset.
    #[error("stream {0} has no offset; it is never sent")]
    Offset(String),
    /// Frames of one stream in several queues of a port.
    #[error(
        "frames of stream {0} take different queues of one link; a plan has one queue for a stream at each link"
    )]
    Queues(String),
    /// A message that never leaves a port.
    #[error(
        "instance {instance} of stream {stream} never leaves {link}: no gate is open for it when it is its turn"
    )]
    Stuck {
        /// Of which stream.
        stream: String,
        /// Which instance of a round.
        instance: i64,
        /// Where.
        link: String,
    },
    /// Right by itself, and wrong as traffic.
    #[error(transparent)]
    Traffic(TrafficError),
}

const TOPOLOGY: &str = "link,q_num,rate,t_proc,t_prop";
const STREAMS: &str = "stream,src,dst,size,period,deadline,jitter";
/// Largest number of a node.
const NODE_MAX: i64 = 1 << 20;

/// Reads a topology and its streams. The names of the files stand in errors.
///
/// # Errors
/// The first thing that is wrong, with its file and line.
pub fn read(topology: (&str, &str), streams: (&str, &str)) -> Result<Traffic, TsnkitError> {
    let (network, numbers) = read_topology(topology)?;
    let (file, text) = streams;
    let fail = |line, fault| TsnkitError { file: file.to_owned(), line, fault };
    let table = Table::parse(text, STREAMS, file)?;
    let mut list = Vec::with_capacity(table.rows.len());
    for row in &table.rows {
        let node = |number: i64| {
            let number = number as u32;
            numbers.get(&number).copied().ok_or_else(|| fail(row.line, TsnkitFault::NoNode(number)))
        };
        let time = |column| row.number(column, 0, i64::MAX >> 1);
        let targets = row.list("dst")?.into_iter().map(node).collect::<Result<Vec<_>, _>>()?;
        let (period, latency, jitter) = (time("period")?, time("deadline")?, time("jitter")?);
        list.push(Stream {
            name: row.number("stream", 0, i64::from(u32::MAX))?.to_string(),
            source: node(row.number("src", 0, NODE_MAX)?)?,
            targets,
            size: ByteSize(row.number("size", 1, 1 << 24)?.cast_unsigned()),
            period: Nanos(period),
            release: Nanos::ZERO,
            deadline: Nanos(period) + Nanos(latency),
            latency: Some(Nanos(latency)),
            // It bounds how much the delay varies, which a latency below it does already.
            jitter: (jitter < latency).then_some(Nanos(jitter)),
            copies: 1,
            ways: None,
        });
    }
    let traffic =
        Traffic { network, streams: list, flows: Vec::new(), clock_error: Nanos::ZERO, whole_cycles: true };
    match traffic.validate() {
        Ok(_) => Ok(traffic),
        Err(error) => {
            let line = match &error {
                TrafficError::Stream { name, .. } => {
                    traffic.streams.iter().rposition(|stream| stream.name == *name)
                }
                _ => None,
            };
            Err(fail(line.map_or(1, |row| table.rows[row].line), TsnkitFault::Traffic(error)))
        }
    }
}

/// The network, and which node stands for which number.
fn read_topology((file, text): (&str, &str)) -> Result<(Network, BTreeMap<u32, NodeId>), TsnkitError> {
    let table = Table::parse(text, TOPOLOGY, file)?;
    let mut ends = Vec::with_capacity(table.rows.len());
    let mut degree = BTreeMap::new();
    for row in &table.rows {
        let (source, target) = row.pair("link")?;
        ends.push((source, target));
        *degree.entry(source).or_insert(0u32) += 1;
        *degree.entry(target).or_insert(0u32) += 1;
    }
    let numbers: BTreeMap<u32, NodeId> =
        degree.keys().enumerate().map(|(index, number)| (*number, NodeId(index as u32))).collect();
    let kind =
        |links: u32| if links == 2 { NodeKind::Host } else { NodeKind::Switch(Forwarding::StoreAndForward) };
    let nodes =
        degree.iter().map(|(number, links)| Node { name: number.to_string(), kind: kind(*links) }).collect();
    let mut links = Vec::with_capacity(ends.len());
    for (row, (source, target)) in table.rows.iter().zip(ends) {
        let slowness = row.number("rate", 1, 1000)?;
        if ![1, 10, 100, 1000].contains(&slowness) {
            return Err(TsnkitError {
                file: file.to_owned(),
                line: row.line,
                fault: TsnkitFault::Rate(slowness),
            });
        }
        let processing = Nanos(row.number("t_proc", 0, 1_000_000_000)?);
        links.push(Link {
            source: numbers[&source],
            target: numbers[&target],
            rate: BitRate((1_000_000_000 / slowness).cast_unsigned()),
            propagation: Nanos(row.number("t_prop", 0, 1_000_000_000)?),
            processing: if degree[&target] == 2 { Nanos::ZERO } else { processing },
            queues: row.number("q_num", 1, 8)? as u8,
            preemption: false,
            reserved: Vec::new(),
            shaping: Vec::new(),
        });
    }
    // One frame a message, without anything beside it.
    let frames =
        FrameFormat { payload_max: ByteSize(1 << 24), payload_min: ByteSize(0), overhead: ByteSize(0) };
    Ok((Network { nodes, links, frames }, numbers))
}

/// The lines of a file.
pub(super) struct Table {
    pub(super) rows: Vec<Row>,
}

/// One line, by column.
pub(super) struct Row {
    file: String,
    line: u64,
    columns: &'static str,
    fields: Vec<String>,
}

impl Table {
    pub(super) fn parse(text: &str, columns: &'static str, file: &str) -> Result<Self, TsnkitError> {
        let fail = |line, fault| TsnkitError { file: file.to_owned(), line, fault };
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
        let header = reader.headers().map_err(|error| fail(1, TsnkitFault::Csv(error.to_string())))?.clone();
        let mut places = Vec::new();
        for column in columns.split(',') {
            // Some of the collection's files call the first column of streams `id`.
            let found = header.iter().position(|name| name == column || (column == "stream" && name == "id"));
            places.push(
                found.ok_or_else(|| fail(1, TsnkitFault::Header { expected: columns, missing: column }))?,
            );
        }
        let mut rows = Vec::new();
        for record in reader.records() {
            let line_of = |error: &csv::Error| error.position().map_or(1, csv::Position::line);
            let record =
                record.map_err(|error| fail(line_of(&error), TsnkitFault::Csv(error.to_string())))?;
            let line = record.position().map_or(1, csv::Position::line);
            let fields =
                places.iter().map(|place| record.get(*place).unwrap_or_default().to_owned()).collect();
            rows.push(Row { file: file.to_owned(), line, columns, fields });
        }
        if rows.is_empty() { Err(fail(1, TsnkitFault::Empty)) } else { Ok(Self { rows }) }
    }
}

impl Row {
    fn field(&self, column: &str) -> &str {
        let place = self.columns.split(',').position(|name| name == column);
        place.map_or("", |place| &self.fields[place])
    }

    pub(super) fn fail(&self, fault: TsnkitFault) -> TsnkitError {
        TsnkitError { file: self.file.clone(), line: self.line, fault }
    }

    pub(super) fn number(&self, column: &'static str, least: i64, most: i64) -> Result<i64, TsnkitError> {
        let text = self.field(column);
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| self.fail(TsnkitFault::Number { column, text: text.to_owned(), least, most }))
    }

    pub(super) fn pair(&self, column: &str) -> Result<(u32, u32), TsnkitError> {
        let text = self.field(column);
        let nodes = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).and_then(nodes);
        match nodes.as_deref() {
            Some([source, target]) => Ok((*source as u32, *target as u32)),
            _ => Err(self.fail(TsnkitFault::Pair(text.to_owned()))),
        }
    }

    fn list(&self, column: &str) -> Result<Vec<i64>, TsnkitError> {
        let text = self.field(column);
        let nodes = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).and_then(nodes);
        nodes.ok_or_else(|| self.fail(TsnkitFault::List(text.to_owned())))
    }
}

/// Numbers of nodes between commas.
fn nodes(text: &str) -> Option<Vec<i64>> {
    text.split(',')
        .map(|node| node.trim().parse().ok().filter(|node| (0..=NODE_MAX).contains(node)))
        .collect()
}
