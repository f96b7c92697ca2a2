//! SPDX licence expressions: `MIT OR (Apache-2.0 AND Zlib)`, with the old `MIT/Apache-2.0`.

use std::collections::BTreeSet;

/// Whether the expression can be met with allowed licences alone.
pub fn satisfied(text: &str, allowed: &BTreeSet<String>) -> Result<bool, String> {
    let spaced = text.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader { words: &words, at: 0, allowed };
    let result = reader.any()?;
    match reader.peek() {
        None => Ok(result),
        Some(word) => Err(format!("'{word}' is one word too many")),
    }
}

struct Reader<'a> {
    words: &'a [&'a str],
    at: usize,
    allowed: &'a BTreeSet<String>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<&str> {
        self.words.get(self.at).copied()
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(word);
        self.at += usize::from(found);
        found
    }

    fn any(&mut self) -> Result<bool, String> {
        let mut result = self.all()?;
        while self.take("OR") {
            result |= self.all()?;
        }
        Ok(result)
    }

    fn all(&mut self) -> Result<bool, String> {
        let mut result = self.one()?;
        while self.take("AND") {
            result &= self.one()?;
        }
        Ok(result)
    }

    fn one(&mut self) -> Result<bool, String> {
        if self.take("(") {
            let result = self.any()?;
            return if self.take(")") { Ok(result) } else { Err("a parenthesis is not closed".into()) };
        }
        let Some(name) = self.peek().filter(|word| !["OR", "AND", "WITH", ")"].contains(word)) else {
            return Err("a licence is missing".into());
        };
        let mut name = name.to_owned();
        self.at += 1;
        if self.take("WITH") {
            let exception = self.peek().ok_or("the exception after WITH is missing")?;
            name = format!("{name} WITH {exception}");
            self.at += 1;
        }
        Ok(self.allowed.contains(&name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<bool, String> {
        let allowed = ["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
        satisfied(text, &BTreeSet::from(allowed))
    }

    #[test]
    fn one_allowed_choice_suffices() {
        for text in
            ["MIT", "GPL-3.0 OR MIT", "MIT/GPL-3.0", "(MIT AND Zlib) OR X", "Apache-2.0 WITH LLVM-exception"]
        {
            assert_eq!(check(text), Ok(true), "{text}");
        }
    }

    #[test]
    fn every_part_of_a_sum_is_needed() {
        for text in ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR X) AND Y", "Apache-2.0", "MIT AND X OR Y"] {
            assert_eq!(check(text), Ok(false), "{text}");
        }
    }

    #[test]
    fn nonsense_is_an_error() {
        for text in ["", "MIT OR", "(MIT", "MIT)", "MIT Zlib", "MIT WITH", "AND"] {
            assert!(check(text).is_err(), "{text}");
        }
    }
}
