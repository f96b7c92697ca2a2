//! Changes of what is good: they lead deeper than bytes that hardly ever are a file of any format.
//!
//! Each change is six bytes: what is changed, where, how, and a number.

use serde_json::Value;

/// Bytes of one change.
const BYTES: usize = 6;

/// One change.
#[derive(Clone, Copy)]
pub struct Change {
    /// Which of several things is changed.
    pub what: u8,
    place: usize,
    how: u8,
    number: i16,
}

/// The changes that some bytes stand for; a rest is left out.
pub fn all(bytes: &[u8]) -> impl Iterator<Item = Change> {
    bytes.chunks_exact(BYTES).map(|change| Change {
        what: change[0],
        place: usize::from(u16::from_le_bytes([change[1], change[2]])),
        how: change[3],
        number: i16::from_le_bytes([change[4], change[5]]),
    })
}

impl Change {
    /// Changes a number of a tree, or, one time in four, its shape.
    pub fn tree(self, tree: &mut Value) {
        let mut places = Vec::new();
        if self.how < 192 {
            numbers(tree, &mut places);
            if let Some(place) = pick(&mut places, self.place) {
                let old = place.as_i64().unwrap_or(0);
                **place = Value::from(self.value(old));
            }
            return;
        }
        inner(tree, &mut places);
        let Some(place) = pick(&mut places, self.place) else { return };
        match &mut **place {
            Value::Array(items) => self.list(items),
            Value::Object(fields) => {
                let name = fields.keys().nth(self.index(fields.len())).cloned();
                name.and_then(|name| fields.remove(&name));
            }
            _ => {}
        }
    }

    /// Changes a number of a text, or a line, a paragraph or a name.
    pub fn text(self, text: &str) -> String {
        match self.how {
            0..192 => self.number_of(text),
            192..208 => self.parts(text, "\n"),
            208..232 => self.parts(text, "\n\n"),
            232..=255 => self.name(text),
        }
    }

    fn value(self, old: i64) -> i64 {
        let number = i64::from(self.number);
        match self.how % 8 {
            0 => old.wrapping_add(number),
            1 => old.wrapping_mul(number),
            2 => number,
            3 => old ^ (1 << (number & 63)),
            4 => i64::MAX - number.abs(),
            5 => i64::MIN + number.abs(),
            6 => 1 << (number & 63),
            _ => old.wrapping_add(number * 1_000),
        }
    }

    /// A place among so many, which are at least one.
    fn index(self, count: usize) -> usize {
        usize::from(self.number.cast_unsigned()) % count.max(1)
    }

    /// Takes one away, takes it twice, or exchanges two that follow each other.
    fn list<T: Clone>(self, items: &mut Vec<T>) {
        if items.is_empty() {
            return;
        }
        let index = self.index(items.len());
        match self.how % 3 {
            0 => drop(items.remove(index)),
            1 => items.insert(index, items[index].clone()),
            _ => {
                let other = (index + 1) % items.len();
                items.swap(index, other);
            }
        }
    }

    fn parts(self, text: &str, between: &str) -> String {
        let mut parts: Vec<&str> = text.split(between).collect();
        Self { number: self.place as i16, ..self }.list(&mut parts);
        parts.join(between)
    }

    fn number_of(self, text: &str) -> String {
        let bytes = text.as_bytes();
        let begins =
            |at: &usize| bytes[*at].is_ascii_digit() && (*at == 0 || !bytes[at - 1].is_ascii_digit());
        let mut places: Vec<usize> = (0..bytes.len()).filter(begins).collect();
        let Some(from) = pick(&mut places, self.place).copied() else { return text.to_owned() };
        let length = bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (before, rest) = text.split_at(from);
        let (number, after) = rest.split_at(length);
        let value = self.value(number.parse().unwrap_or(i64::MAX));
        format!("{before}{value}{after}")
    }

    /// One quoted name in place of another.
    fn name(self, text: &str) -> String {
        let mut parts: Vec<&str> = text.split('"').collect();
        let names = parts.len() / 2;
        if names > 0 {
            parts[1 + 2 * (self.place % names)] = parts[1 + 2 * self.index(names)];
        }
        parts.join("\"")
    }
}

fn pick<T>(places: &mut [T], place: usize) -> Option<&mut T> {
    let count = places.len().max(1);
    places.get_mut(place % count)
}

/// All numbers in a tree.
fn numbers<'a>(tree: &'a mut Value, out: &mut Vec<&'a mut Value>) {
    match tree {
        Value::Number(_) => out.push(tree),
        Value::Array(items) => items.iter_mut().for_each(|item| numbers(item, out)),
        Value::Object(fields) => fields.values_mut().for_each(|item| numbers(item, out)),
        _ => {}
    }
}

/// All lists and objects that hold nothing but what has no parts, and all lists of such.
fn inner<'a>(tree: &'a mut Value, out: &mut Vec<&'a mut Value>) {
    let is_leaf = |value: &Value| !value.is_array() && !value.is_object();
    let is_flat = match &*tree {
        Value::Array(items) => items.iter().all(|item| match item {
            Value::Object(fields) => fields.values().all(is_leaf),
            item => is_leaf(item),
        }),
        Value::Object(fields) => fields.values().all(is_leaf),
        _ => return,
    };
    match tree {
        tree if is_flat => out.push(tree),
        Value::Array(items) => items.iter_mut().for_each(|item| inner(item, out)),
        Value::Object(fields) => fields.values_mut().for_each(|item| inner(item, out)),
        _ => {}
    }
}
