//! Commit: collective channels become channels between two members each, which the plan, the admission and the report see like
//! all others, and a declaration that every member of the group must agree in.

use super::collectives::{CollectiveBody, CollectiveKind};
use super::commit::{Unfit, with_qos};
use super::committed::{Called, Collective, Receive, Send};
use super::error::Code;
use super::handle::Handle;
use super::movers::Movers;
use super::object::{Body, ChannelBody, Form, Object, Qos};
use super::qos::QosBody;
use super::world::World;
use crate::declare::{Declarations, EndBuilder, Lead, Source, Target};
use crate::gate::Gate;
use crate::session::AnyEnd;
use leveret_protocol::declaration::{BufferMemory, CollectiveDeclaration};
use leveret_types::{ByteSize, MemberId, Nanos};
use std::collections::HashMap;
use std::sync::Arc;

/// This member's ends of the channels that carry a collective one.
#[derive(Default)]
pub(super) struct Edges {
    /// By the receiver's rank.
    pub(super) sends: Vec<(u32, Source)>,
    /// By the sender's rank.
    pub(super) receives: Vec<(u32, Target)>,
    /// Time-driven: calls of the member that leads, and the one that this member waits for.
    calls: Vec<(u32, Source)>,
    call: Option<Target>,
    pub(super) own: u32,
    /// One of the channels that carry it, and whether this member sends on it.
    pub(super) carrier: Option<(String, bool)>,
}

/// Who sends to whom in a group of so many, by rank. Time-driven, the member that leads sends first, to itself too.
struct Routes {
    members: usize,
    root: usize,
    own: usize,
    is_timed: bool,
}

impl Routes {
    /// Whether members send only when they are called.
    fn has_calls(&self, kind: CollectiveKind) -> bool {
        let all_send = [CollectiveKind::Gather, CollectiveKind::Alltoall].contains(&kind);
        self.is_timed && (all_send || matches!(kind, CollectiveKind::Reduce(_)))
    }

    fn all(&self) -> Vec<usize> {
        (0..self.members).collect()
    }

    fn others(&self) -> Vec<usize> {
        (0..self.members).filter(|rank| *rank != self.own).collect()
    }

    fn leads(&self) -> bool {
        self.own == self.root
    }

    /// To whom this member sends.
    fn outgoing(&self, kind: CollectiveKind) -> Vec<usize> {
        match kind {
            CollectiveKind::Broadcast | CollectiveKind::Scatter if self.leads() => self.all(),
            CollectiveKind::Broadcast | CollectiveKind::Scatter => Vec::new(),
            CollectiveKind::Gather | CollectiveKind::Reduce(_) => vec![self.root],
            CollectiveKind::Alltoall => self.all(),
            CollectiveKind::Barrier => match (self.is_timed, self.leads()) {
                (true, true) => self.all(),
                (true, false) => Vec::new(),
                (false, true) => self.others(),
                (false, false) => vec![self.root],
            },
        }
    }

    /// From whom it receives.
    fn incoming(&self, kind: CollectiveKind) -> Vec<usize> {
        match kind {
            CollectiveKind::Broadcast | CollectiveKind::Scatter => vec![self.root],
            CollectiveKind::Gather | CollectiveKind::Reduce(_) if self.leads() => self.all(),
            CollectiveKind::Gather | CollectiveKind::Reduce(_) => Vec::new(),
            CollectiveKind::Alltoall => self.all(),
            CollectiveKind::Barrier if !self.is_timed && self.leads() => self.others(),
            CollectiveKind::Barrier => vec![self.root],
        }
    }
}

/// When the members send whom the leader has called: the second half of the window.
pub(super) fn middle(start: Nanos, deadline: Nanos) -> Nanos {
    start + Nanos((deadline - start).0 / 2)
}

impl World {
    /// What was true of a collective channel's iterators when it was made may have been changed since.
    pub(super) fn check_collectives(&self) -> Result<(), Unfit> {
        for (handle, object) in self.table.all() {
            let Some(collective) = object.body.collective() else { continue };
            let serves = |body: &Body| matches!(body, Body::Task(task) if task.channels.contains(&handle));
            let unfit = |code, what: &str| {
                let detail = format!("{} {what}", self.called("the channel", handle));
                Err(Unfit { code, detail })
            };
            if self.table.all().any(|(_, object)| serves(&object.body)) {
                return unfit(
                    Code::Argument,
                    "leads to itself and is bound to a task; leave it to the library, which moves it by its window",
                );
            }
            let is_root = self.referred_rank(collective.base.group) == Some(collective.base.source as usize);
            let pairs = [(collective.base.sends(), ""), (collective.base.receives, "recv")];
            for (is_used, (pair, which)) in collective.kind.roles(is_root).into_iter().zip(pairs) {
                for (iterator, side) in pair.into_iter().zip(["in", "out"]) {
                    if is_used && iterator.is_null() {
                        let what =
                            format!("has no iterator; set one with MPIRT_Channel_set_{which}{side}bufiter");
                        return unfit(Code::Argument, &what);
                    }
                }
                let mapped = |handle: &Handle| {
                    self.iterator_behind(*handle).is_some_and(|body| body.policy.form == Form::Mapped)
                };
                if pair.iter().any(mapped) {
                    return unfit(
                        Code::Argument,
                        "has a MAPPED iterator, whose buffers belong to those of one other end; give it a plain or an ORDERED one",
                    );
                }
            }
        }
        Ok(())
    }

    fn size_behind(&self, iterator: Handle) -> Option<usize> {
        self.iterator_behind(iterator).map(|body| body.size)
    }

    pub(super) fn members_behind(&self, group: Handle) -> &[MemberId] {
        match self.table.referred(group).map(|object| &object.body) {
            Some(Body::Group(members)) => members,
            _ => &[],
        }
    }

    /// The data path's view of a collective channel; `numbers` are those of the iterators.
    pub(super) fn prepare_collective(
        &self,
        body: &CollectiveBody,
        numbers: &HashMap<Handle, u32>,
    ) -> Collective {
        let number = |pair: [Handle; 2]| {
            let [input, output] = pair.map(|iterator| numbers.get(&iterator).copied());
            Some([input?, output?])
        };
        let members = self.members_behind(body.base.group);
        let shape =
            self.iterator_behind(body.base.input).or_else(|| self.iterator_behind(body.base.receives[0]));
        Collective {
            kind: body.kind,
            dataspec: shape.map_or(super::object::Dataspec::Byte, |shape| shape.dataspec),
            sends: number(body.base.sends()),
            receives: number(body.base.receives),
            piece: self.piece(body, members.len()),
            others: members.iter().copied().filter(|member| *member != self.rank()).collect(),
            seat: super::committed::Seat::default(),
            ready: Default::default(),
        }
    }

    /// Bytes of what one member sends to another.
    fn piece(&self, body: &CollectiveBody, members: usize) -> usize {
        let [sends, receives] =
            [body.base.input, body.base.receives[0]].map(|iterator| self.size_behind(iterator));
        match body.kind {
            CollectiveKind::Broadcast => sends.or(receives).unwrap_or(0),
            CollectiveKind::Scatter => receives.unwrap_or(0),
            CollectiveKind::Gather | CollectiveKind::Reduce(_) => sends.unwrap_or(0),
            CollectiveKind::Alltoall => sends.unwrap_or(0) / members.max(1),
            CollectiveKind::Barrier => 0,
        }
    }

    /// Declares a channel that is served like a collective one; `None` of others.
    pub(super) fn declare_edges(
        &self,
        declarations: &mut Declarations,
        object: &Object,
        outgoing: usize,
    ) -> Result<Option<(Edges, QosBody)>, Code> {
        let (edges, base) = match &object.body {
            Body::Collective(collective) => (
                self.declare_collective(declarations, (&object.name, outgoing), collective)?,
                collective.base,
            ),
            Body::Ptchannel(base) if base.is_loop() => {
                (self.declare_loop(declarations, (&object.name, outgoing), base)?, *base)
            }
            _ => return Ok(None),
        };
        Ok(Some((edges, self.qos_of(&base))))
    }

    /// Declares the two ends of a channel from this member to itself.
    fn declare_loop(
        &self,
        declarations: &mut Declarations,
        (name, outgoing): (&str, usize),
        base: &ChannelBody,
    ) -> Result<Edges, Code> {
        let group = self.declare_group(declarations, base.group)?;
        let edge = Edge { group: &group, outgoing, checksum: base.checksum };
        let size = ByteSize(self.size_behind(base.input).ok_or(Code::Argument)? as u64);
        let qos = self.qos_of(base);
        let source = edge.declare(declarations.source(name), size, &qos);
        let target = edge.declare(declarations.target(name), size, &qos);
        let carrier = Some((name.to_owned(), true));
        Ok(Edges { sends: vec![(0, source)], receives: vec![(0, target)], carrier, ..Edges::default() })
    }

    /// Declares a collective channel, and the ends that carry it.
    fn declare_collective(
        &self,
        declarations: &mut Declarations,
        (name, outgoing): (&str, usize),
        body: &CollectiveBody,
    ) -> Result<Edges, Code> {
        let CollectiveBody { kind, base } = *body;
        let receives = base.receives;
        let members = self.members_behind(base.group);
        let own = self.referred_rank(base.group).ok_or(Code::Internal)?;
        let group = self.declare_group(declarations, base.group)?;
        let qos = self.qos_of(&base);
        let size = |iterator: Handle| self.size_behind(iterator).map(|size| ByteSize(size as u64));
        let shape = self.iterator_behind(base.input).or_else(|| self.iterator_behind(receives[0]));
        let operation = match kind {
            CollectiveKind::Reduce(operation) => Some(operation.word().to_owned()),
            _ => None,
        };
        declarations.collective(CollectiveDeclaration {
            name: name.to_owned(),
            group: group.clone(),
            form: kind.form(),
            root: kind.has_root().then_some(base.source),
            operation,
            dataspec: shape.map(|shape| shape.dataspec.word()),
            element: shape.map_or(1, |shape| shape.dataspec.size() as u32),
            sends: size(base.input),
            receives: size(receives[0]),
            qos: super::commit::plan_qos(&qos),
            slack: base.slack,
        });
        let is_timed = matches!(qos.kind, Qos::Time { .. });
        let routes = Routes { members: members.len(), root: base.source as usize, own, is_timed };
        let [first, second] = &stages(&of_a_message(&qos, kind), routes.has_calls(kind));
        let piece = ByteSize(self.piece(body, members.len()).max(1) as u64);
        let edge = Edge { group: &group, outgoing, checksum: base.checksum };
        let mut edges = Edges { own: own as u32, ..Edges::default() };
        for to in routes.outgoing(kind) {
            let name = CollectiveDeclaration::edge(name, own, to);
            edges.carrier.get_or_insert_with(|| (name.clone(), true));
            edges.sends.push((to as u32, edge.declare(declarations.source(&name), piece, second)));
        }
        for from in routes.incoming(kind) {
            let name = CollectiveDeclaration::edge(name, from, own);
            edges.carrier.get_or_insert_with(|| (name.clone(), false));
            edges.receives.push((from as u32, edge.declare(declarations.target(&name), piece, second)));
        }
        if routes.has_calls(kind) {
            for to in routes.all().into_iter().filter(|_| routes.leads()) {
                let name = CollectiveDeclaration::call(name, own, to);
                edges.calls.push((to as u32, edge.declare(declarations.source(&name), ByteSize(1), first)));
            }
            let name = CollectiveDeclaration::call(name, routes.root, own);
            edges.call = Some(edge.declare(declarations.target(&name), ByteSize(1), first));
        }
        Ok(edges)
    }
}

/// What the ends of one collective channel have in common.
struct Edge<'a> {
    group: &'a str,
    outgoing: usize,
    checksum: Option<bool>,
}

impl Edge<'_> {
    fn declare<T>(&self, end: EndBuilder<'_, T>, size: ByteSize, qos: &QosBody) -> T {
        let end = end.group(self.group).size(size).memory(BufferMemory::Application);
        with_qos(end.outgoing(self.outgoing).checksum_if_said(self.checksum), qos).declare()
    }
}

/// What is promised of each message so that the whole is in time: in a barrier one follows another.
fn of_a_message(qos: &QosBody, kind: CollectiveKind) -> QosBody {
    let in_turn = if kind == CollectiveKind::Barrier { 2 } else { 1 };
    let deadline = qos.deadline.filter(|_| qos.is_served());
    let deadline = deadline.map(|deadline| Nanos((deadline.0 / in_turn).max(1)));
    QosBody { deadline, ..qos.clone() }
}

/// The windows of what the leader sends and of what the others do.
fn stages(qos: &QosBody, has_calls: bool) -> [QosBody; 2] {
    let stage =
        |start, deadline, period| QosBody { kind: Qos::Time { start, deadline, period }, ..qos.clone() };
    match qos.kind {
        Qos::Time { start, deadline, period } if has_calls => {
            let middle = middle(start, deadline);
            [stage(start, middle, period), stage(middle, deadline, period)]
        }
        _ => [qos.clone(), qos.clone()],
    }
}

/// The end at which the program's calls have their effect, and what is special about it.
pub(super) struct SeatEnd {
    pub(super) end: AnyEnd,
    /// This member only sends, so the transfer is through at its deadline.
    pub(super) only_sends: bool,
    /// From the instant at which the end is served to the transfer's deadline.
    pub(super) delay: Nanos,
}

impl Edges {
    /// Gives the steps of a time-driven collective channel to movers.
    pub(super) fn serve(
        self,
        movers: &mut Movers,
        channel: usize,
        collective: &Collective,
        qos: &QosBody,
    ) -> Option<SeatEnd> {
        let Edges { sends, receives, calls, call, own, .. } = self;
        let [first, second] = &stages(qos, call.is_some());
        let gate = Arc::new(Gate::default());
        let size = collective.piece as u64;
        let lacking = |ends: Vec<(u32, Source)>| -> Vec<(u32, Source, u64)> {
            ends.into_iter().map(|(rank, source)| (rank, source, 0)).collect()
        };
        let only_sends = receives.is_empty();
        let seat = match (call, receives.first()) {
            (Some(call), _) => call,
            (None, Some((_, target))) => *target,
            (None, None) => return None,
        };
        if !calls.is_empty() {
            let leads = calls.iter().map(|(_, source)| (AnyEnd::from(*source), Lead::Always));
            let mover = movers.of(false, first, 0, leads)?;
            let ends = lacking(calls);
            mover.collectives.sends.push(Send { channel, ends, is_call: true, own });
        }
        if let Some(call) = call {
            let leads = [(AnyEnd::from(call), Lead::Opens(gate.clone()))];
            movers.of(false, second, 0, leads)?.collectives.called.push(Called { channel, target: call });
        }
        let was_called = call.is_some();
        let lead = || if was_called { Lead::Follows(gate.clone()) } else { Lead::Always };
        if !sends.is_empty() {
            let leads = sends.iter().map(|(_, source)| (AnyEnd::from(*source), lead()));
            let mover = movers.of(false, second, size * sends.len() as u64, leads)?;
            let ends = lacking(sends);
            mover.collectives.sends.push(Send { channel, ends, is_call: false, own });
        }
        if !receives.is_empty() {
            let leads =
                receives.iter().filter(|_| was_called).map(|(_, target)| (AnyEnd::from(*target), lead()));
            // What is computed is read twice.
            let mover = movers.of(true, second, 2 * size * receives.len() as u64, leads)?;
            let scratch = collective.scratch();
            mover.collectives.receives.push(Receive { channel, ends: receives, was_called, scratch });
        }
        let delay = match (first.kind, second.kind) {
            (Qos::Time { deadline: early, .. }, Qos::Time { deadline, .. }) => deadline - early,
            _ => Nanos::ZERO,
        };
        Some(SeatEnd { end: AnyEnd::from(seat), only_sends, delay })
    }
}
