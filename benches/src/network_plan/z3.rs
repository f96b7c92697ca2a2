//! The solver z3 as one process that answers one question after the other.

use super::peers;
use crate::BenchError;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// For one question, in milliseconds.
pub const LIMIT_MS: u64 = 20_000;

/// What it says of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// There is a plan.
    Satisfiable,
    /// There is none.
    Unsatisfiable,
    /// Its time was over.
    Unknown,
}

impl Answer {
    /// What it says of the opposite.
    pub fn negated(self) -> Self {
        match self {
            Self::Satisfiable => Self::Unsatisfiable,
            Self::Unsatisfiable => Self::Satisfiable,
            Self::Unknown => Self::Unknown,
        }
    }
}

/// The process.
pub struct Z3 {
    /// What it calls itself.
    pub version: String,
    process: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Z3 {
    /// Starts it.
    pub fn start() -> Result<Self, BenchError> {
        let (program, version) = peers::z3()?;
        let mut process = Command::new(program)
            .args(["-smt2", "-in"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (Some(questions), Some(answers)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(broken("has no pipes"));
        };
        Ok(Self { version, process, questions, answers: BufReader::new(answers) })
    }

    /// Declarations and assertions in SMT-LIB 2, and at most so many milliseconds for them.
    pub fn ask(&mut self, question: &str, limit_ms: u64) -> Result<Answer, BenchError> {
        write!(self.questions, "(reset)\n(set-option :timeout {limit_ms})\n{question}(check-sat)\n")?;
        self.questions.flush()?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        match line.trim() {
            "sat" => Ok(Answer::Satisfiable),
            "unsat" => Ok(Answer::Unsatisfiable),
            "unknown" | "timeout" => Ok(Answer::Unknown),
            other => Err(broken(&format!("it answers {other:?}"))),
        }
    }
}

fn broken(reason: &str) -> BenchError {
    BenchError::Round { subject: "z3".to_owned(), reason: reason.to_owned() }
}

impl Drop for Z3 {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}
