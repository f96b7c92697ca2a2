//! A Rust source file as the tidy checks see it: code, comments and test regions told apart.
//!
//! This is a lexer, not a parser: it knows strings, characters, lifetimes and nested comments, and nothing else.
//! That is enough to find a word in code without finding it in a string, and to match braces.

use std::ops::Range;

/// One Rust file, taken apart.
pub struct Source {
    /// The code, byte for byte as long as the file, with the inside of strings and all comments blanked.
    pub code: String,
    /// The text of the comments of each line, empty where there is none.
    pub comments: Vec<String>,
    line_starts: Vec<usize>,
    test_ranges: Vec<Range<usize>>,
    /// The whole file is test code.
    pub all_test: bool,
}

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name without path.
    pub name: String,
    /// Line of the `fn`, from 1.
    pub first_line: usize,
    /// Line of the closing brace, from 1.
    pub last_line: usize,
}

impl Function {
    /// Lines from `fn` to the closing brace, both counted.
    pub fn lines(&self) -> usize {
        self.last_line - self.first_line + 1
    }
}

impl Source {
    /// Takes `text` apart. `all_test` says that every line is test code (a file under `tests/`).
    pub fn new(text: &str, all_test: bool) -> Self {
        let (code, comments) = mask(text);
        let mut line_starts = vec![0];
        line_starts.extend(code.match_indices('\n').map(|(at, _)| at + 1));
        let test_ranges = test_items(&code).into_iter().map(|item| item.range).collect();
        Self { code, comments, line_starts, test_ranges, all_test }
    }

    /// The line number, from 1, of a byte offset.
    pub fn line_of(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|&start| start <= offset)
    }

    /// Whether the code at this offset is compiled for tests only.
    pub fn is_test(&self, offset: usize) -> bool {
        self.all_test || self.test_ranges.iter().any(|range| range.contains(&offset))
    }

    /// The comment on this line or, if the line has none, on the line above. Lines count from 1.
    pub fn explanation(&self, line: usize) -> Option<&str> {
        let text = |line: usize| self.comments.get(line.checked_sub(1)?).map(|text| text.trim());
        [text(line), text(line - 1)].into_iter().flatten().find(|text| !text.is_empty())
    }

    /// Offsets at which `pattern` stands in the code as whole words.
    pub fn find(&self, pattern: &str) -> Vec<usize> {
        find_words(&self.code, pattern)
    }

    /// Every function that has a body.
    pub fn functions(&self) -> Vec<Function> {
        let mut found = Vec::new();
        for at in self.find("fn") {
            let rest = self.code[at + 2..].trim_start();
            let name: String = rest.chars().take_while(|c| is_word(*c)).collect();
            // A pointer type such as `fn(u8)` has no name; a trait's declaration ends with a semicolon.
            if name.is_empty() {
                continue;
            }
            if let Some((_, end)) = body(&self.code, at) {
                found.push(Function { name, first_line: self.line_of(at), last_line: self.line_of(end) });
            }
        }
        found
    }

    /// Names of modules in files of their own that are compiled for tests only (`#[cfg(test)] mod name;`).
    pub fn test_modules(&self) -> Vec<String> {
        test_items(&self.code).into_iter().filter_map(|item| item.module_file).collect()
    }
}

/// Offsets at which `pattern` stands in `text` as whole words.
pub fn find_words(text: &str, pattern: &str) -> Vec<usize> {
    let word_first = pattern.chars().next().is_some_and(is_word);
    let word_last = pattern.chars().next_back().is_some_and(is_word);
    text.match_indices(pattern)
        .filter(|(at, _)| {
            let before = text[..*at].chars().next_back().is_some_and(is_word);
            let after = text[at + pattern.len()..].chars().next().is_some_and(is_word);
            !(word_first && before || word_last && after)
        })
        .map(|(at, _)| at)
        .collect()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The opening and closing brace of the body that begins after `from`; none if a semicolon comes first.
fn body(code: &str, from: usize) -> Option<(usize, usize)> {
    let mut nesting = 0i32;
    let mut open = None;
    for (at, byte) in code.bytes().enumerate().skip(from) {
        match byte {
            b'(' | b'[' => nesting += 1,
            b')' | b']' => nesting -= 1,
            b';' if nesting == 0 && open.is_none() => return None,
            b'{' if nesting == 0 && open.is_none() => {
                open = Some(at);
                nesting = 1;
            }
            b'{' => nesting += 1,
            b'}' => {
                nesting -= 1;
                if nesting == 0 && open.is_some() {
                    return open.map(|open| (open, at));
                }
            }
            _ => {}
        }
    }
    None
}

struct TestItem {
    range: Range<usize>,
    module_file: Option<String>,
}

/// Items under `#[cfg(test)]` or a `cfg` that holds only when `test` does.
fn test_items(code: &str) -> Vec<TestItem> {
    let mut items = Vec::new();
    for (at, _) in code.match_indices("#[cfg(") {
        let Some(close) = code[at..].find(']').map(|length| at + length) else { continue };
        let condition = &code[at + 6..close];
        let names_test = !find_words(condition, "test").is_empty();
        if !names_test || condition.contains("not(test") || condition.starts_with("any(") {
            continue;
        }
        let after = close + 1;
        match body(code, after) {
            Some((_, end)) => items.push(TestItem { range: at..end + 1, module_file: None }),
            None => {
                let end = code[after..].find(';').map_or(code.len(), |length| after + length);
                let module = code[after..end].rsplit_once("mod ").map(|(_, name)| name.trim().to_owned());
                items.push(TestItem { range: at..end, module_file: module });
            }
        }
    }
    items
}

/// Where the lexer stands.
enum State {
    Code,
    Line,
    Block(u32),
    Text,
    Raw(usize),
}

/// Blanks strings and comments; gives the comments of each line beside it.
fn mask(text: &str) -> (String, Vec<String>) {
    let bytes = text.as_bytes();
    let mut code = vec![b' '; bytes.len()];
    let mut comments = vec![Vec::new()];
    let mut state = State::Code;
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'\n' {
            code[at] = b'\n';
            comments.push(Vec::new());
            if matches!(state, State::Line) {
                state = State::Code;
            }
            at += 1;
            continue;
        }
        let width = match state {
            State::Code => lex_code(bytes, at, &mut code, &mut state),
            State::Text => lex_text(bytes, at, &mut code, &mut state),
            State::Raw(hashes) => lex_raw(bytes, at, hashes, &mut code, &mut state),
            State::Line | State::Block(_) => {
                if let Some(comment) = comments.last_mut() {
                    comment.push(bytes[at]);
                }
                lex_comment(bytes, at, &mut state)
            }
        };
        at += width;
    }
    let comments = comments.into_iter().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect();
    (String::from_utf8_lossy(&code).into_owned(), comments)
}

/// One step in code: returns how many bytes it took.
fn lex_code(bytes: &[u8], at: usize, code: &mut [u8], state: &mut State) -> usize {
    let rest = &bytes[at..];
    if rest.starts_with(b"//") {
        *state = State::Line;
        return 2;
    }
    if rest.starts_with(b"/*") {
        *state = State::Block(1);
        return 2;
    }
    // Bytes beyond ASCII cannot be copied one by one without breaking the text; they stay blank.
    if bytes[at].is_ascii() {
        code[at] = bytes[at];
    }
    let begins_word = at == 0 || !(bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
    match bytes[at] {
        b'"' => *state = State::Text,
        b'r' | b'b' | b'c' if begins_word => {
            if let Some((length, hashes)) = raw_opening(rest) {
                *state = State::Raw(hashes);
                return length;
            }
        }
        b'\'' => return character_length(rest),
        _ => {}
    }
    1
}

/// Length of `r#"`, `br"`, `cr##"`, and its number of hashes.
fn raw_opening(rest: &[u8]) -> Option<(usize, usize)> {
    let prefix = if rest.starts_with(b"r") {
        1
    } else if rest.starts_with(b"br") || rest.starts_with(b"cr") {
        2
    } else {
        return None;
    };
    let hashes = rest[prefix..].iter().take_while(|byte| **byte == b'#').count();
    (rest.get(prefix + hashes) == Some(&b'"')).then_some((prefix + hashes + 1, hashes))
}

/// Length of a character literal, or 1 for the tick of a lifetime.
fn character_length(rest: &[u8]) -> usize {
    let end = if rest.get(1) == Some(&b'\\') {
        rest.iter().skip(3).position(|byte| *byte == b'\'').map(|at| at + 4)
    } else {
        // One character of up to four bytes, then the closing tick.
        let width = std::str::from_utf8(&rest[1..rest.len().min(5)])
            .map_or_else(|error| error.valid_up_to(), str::len)
            .min(4);
        (1..=width).find(|width| rest.get(1 + width) == Some(&b'\'')).map(|width| width + 2)
    };
    match end {
        Some(length) if length == 3 || rest.get(1) == Some(&b'\\') => length,
        Some(length) if !rest[1].is_ascii() => length,
        _ => 1,
    }
}

fn lex_text(bytes: &[u8], at: usize, code: &mut [u8], state: &mut State) -> usize {
    match bytes[at] {
        // An escaped line end must still be seen as a line end.
        b'\\' if bytes.get(at + 1) != Some(&b'\n') => 2,
        b'"' => {
            code[at] = b'"';
            *state = State::Code;
            1
        }
        _ => 1,
    }
}

fn lex_raw(bytes: &[u8], at: usize, hashes: usize, code: &mut [u8], state: &mut State) -> usize {
    let tail = &bytes[at + 1..bytes.len().min(at + 1 + hashes)];
    if bytes[at] == b'"' && tail.len() == hashes && tail.iter().all(|byte| *byte == b'#') {
        code[at] = b'"';
        *state = State::Code;
        return 1 + hashes;
    }
    1
}

fn lex_comment(bytes: &[u8], at: usize, state: &mut State) -> usize {
    if let State::Block(depth) = state {
        if bytes[at..].starts_with(b"*/") {
            *state = if *depth == 1 { State::Code } else { State::Block(*depth - 1) };
            return 2;
        }
        if bytes[at..].starts_with(b"/*") {
            *state = State::Block(*depth + 1);
            return 2;
        }
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_comments_are_not_code() {
        let source =
            Source::new("let a = \"unsafe\"; // unsafe here\n/* unsafe /* in */ two */ let b = 1;\n", false);
        assert!(source.find("unsafe").is_empty());
        assert_eq!(source.comments[0].trim(), "unsafe here");
        assert_eq!(source.find("let").len(), 2);
    }

    #[test]
    fn raw_strings_end_at_their_own_hashes() {
        let source = Source::new(
            "let a = r#\"quote \" fn x() {}\"#; fn real() {}\nlet s = br\"\\\"; fn two() {}",
            false,
        );
        let names: Vec<_> = source.functions().into_iter().map(|function| function.name).collect();
        assert_eq!(names, ["real", "two"]);
    }

    #[test]
    fn characters_and_lifetimes_are_told_apart() {
        let text = "fn a<'a>(x: &'a str) -> char { '\"' }\nfn b() -> char { '\\'' }\nfn c() -> char { 'ä' }\nfn d() {}\n";
        let names: Vec<_> =
            Source::new(text, false).functions().into_iter().map(|function| function.name).collect();
        assert_eq!(names, ["a", "b", "c", "d"]);
    }

    #[test]
    fn the_body_of_a_function_is_measured_with_its_signature() {
        let text = "trait T {\n    fn none(&self);\n}\nfn long(\n    a: [u8; 3],\n) -> u8 {\n    if true {\n        1\n    } else {\n        2\n    }\n}\n";
        let functions = Source::new(text, false).functions();
        assert_eq!(functions, [Function { name: "long".into(), first_line: 4, last_line: 12 }]);
        assert_eq!(functions[0].lines(), 9);
    }

    #[test]
    fn test_regions_are_known() {
        let text = "fn a() { x.unwrap() }\n#[cfg(test)]\nmod tests {\n    fn b() { y.unwrap() }\n}\nfn c() { z.unwrap() }\n";
        let source = Source::new(text, false);
        let in_test: Vec<_> = source.find("unwrap").into_iter().map(|at| source.is_test(at)).collect();
        assert_eq!(in_test, [false, true, false]);
    }

    #[test]
    fn a_test_module_in_its_own_file_is_named() {
        let source = Source::new(
            "#[cfg(test)]\nmod checks;\n#[cfg(not(test))]\nmod real;\n#[cfg(all(test, loom))]\nmod looms;\n",
            false,
        );
        assert_eq!(source.test_modules(), ["checks", "looms"]);
    }

    #[test]
    fn words_are_whole() {
        let source = Source::new("my_unsafe(); unsafe_code; unsafe {}", false);
        assert_eq!(source.find("unsafe").len(), 1);
        assert_eq!(source.find("unsafe {").len(), 1);
    }

    #[test]
    fn an_explanation_stands_on_the_line_or_above() {
        let source = Source::new("// because\nx.unwrap();\n\ny.unwrap();\nz.unwrap(); // so\n", false);
        assert_eq!(source.explanation(2), Some("because"));
        assert_eq!(source.explanation(4), None);
        assert_eq!(source.explanation(5), Some("so"));
    }
}
