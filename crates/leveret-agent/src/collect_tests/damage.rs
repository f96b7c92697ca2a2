//! Words by which the ends of a channel tell each other when they take part, which something has written over.

use super::*;
use leveret_memory::ParticipationWriter;
use leveret_os::memory_file::MemoryFile;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// A member's own segment, and how to read all of it.
struct Readable {
    own: OwnSegment,
    file: File,
}

impl Readable {
    fn new(job: &InProcessJob, member: MemberId) -> Self {
        let layout = admitted(job).layout(member).expect("a layout");
        let (file, mapping) = MemoryFile::create("damage", layout.size() as u64).expect("there is memory");
        let own = OwnSegment::create(Arc::new(mapping), &layout).expect("fresh");
        Self { own, file: File::from(file) }
    }

    fn words(&self) -> Vec<u64> {
        let mut bytes = vec![0; self.file.metadata().expect("it is open").len() as usize];
        self.file.read_exact_at(&mut bytes, 0).expect("nobody shortens it");
        let words = bytes.chunks_exact(8);
        words.map(|word| u64::from_ne_bytes(word.try_into().expect("eight bytes"))).collect()
    }
}

fn admitted(job: &InProcessJob) -> Admitted<'_> {
    Admitted { assembled: &job.assembled, plan: &job.plan, generation: GENERATION }
}

/// The members' segments with these words.
fn peers(job: &InProcessJob, words: &[Vec<u64>; 2]) -> (Option<PeerSource>, Option<PeerTarget>) {
    let [writer, reader] = [0, 1].map(|member| {
        let layout = admitted(job).layout(MemberId(member)).expect("a layout");
        let words = &words[usize::from(member)];
        let region = Arc::new(HeapRegion::filled(layout.size(), |place| words[place]));
        PeerSegment::attach(region, &layout, MemberId(member), GENERATION).expect("its header is right")
    });
    (writer.source(ChannelId(0)), reader.target(ChannelId(0)))
}

/// What an end tells, which changes the words that say it.
type Tells = fn(&ParticipationWriter);

const TELLS: [(&str, Tells); 4] = [
    ("spans", |words| words.tell_spans([3, 9, 20])),
    ("started", |words| words.tell_started(5)),
    ("answered", |words| words.tell_answered(4)),
    ("lacked", |words| words.tell_lacked(2, 7)),
];

/// Each is counted when it is found and not again while it stands there, against the end that has it; the journal is given the count
/// though nothing else has come.
// spec: LAW-VALID-01
#[test]
fn a_damaged_word_of_an_end_is_counted_once_for_as_long_as_it_stands() {
    let job = pair();
    let mut members = [0, 1].map(|member| Readable::new(&job, MemberId(member)));
    let (source, target) = peers(&job, &members.each_ref().map(Readable::words));
    let own = members[0].own.take_source(ChannelId(0)).expect("declared");
    let sender = Sender::new(own, target.expect("declared"));
    let own = members[1].own.take_target(ChannelId(0)).expect("declared");
    let receiver = Receiver::new(own, source.expect("declared"));
    for (end, writer) in [sender.participation(), receiver.participation()].into_iter().enumerate() {
        for (what, tell) in TELLS {
            let before = members[end].words();
            tell(&writer);
            let whole = members.each_ref().map(Readable::words);
            let is_told = |place: &usize| before[*place] != whole[end][*place];
            let told: Vec<usize> = (0..before.len()).filter(is_told).collect();
            assert!(!told.is_empty(), "{what}");
            for place in told {
                counted_once_each_time(&job, &whole, (end, place), what);
            }
        }
    }
}

fn counted_once_each_time(
    job: &InProcessJob,
    whole: &[Vec<u64>; 2],
    (end, place): (usize, usize),
    what: &str,
) {
    let mut damaged = whole.clone();
    damaged[end][place] ^= 1 << 20;
    let now = EPOCH + PERIOD;
    let (source, target) = peers(job, whole);
    let table = ChannelTable::new(&job.assembled, &job.plan, 0);
    let mut collector = ChannelCollector::new(source, target, table, (EPOCH, 0));
    let mut look = |words: &[Vec<u64>; 2]| {
        (collector.source_end, collector.target_end) = peers(job, words);
        assert!(collector.drain(|| now).is_empty());
        let Implausible { source, target } = collector.record.implausible;
        let grown = collector.growth(now).map(|growth| growth.record.implausible);
        ([source, target], grown.is_some())
    };
    look(whole);
    let mut expected = [0; 2];
    for _ in 0..2 {
        expected[end] += 1;
        assert_eq!(look(&damaged), (expected, true), "{what}, word {place} of end {end}");
        assert_eq!(look(&damaged), (expected, false), "{what}, word {place} of end {end}");
        assert_eq!(look(whole), (expected, false), "{what}, word {place} of end {end}");
    }
}
