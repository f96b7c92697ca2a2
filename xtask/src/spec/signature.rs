//! The C declarations of functions: enough of C's grammar to know parameters and their types.

/// A function's name and parameters.
#[derive(Debug, PartialEq, Eq)]
pub struct Signature {
    /// The function's name.
    pub name: String,
    /// Its parameters in order.
    pub parameters: Vec<Parameter>,
}

/// One parameter.
#[derive(Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// The type's name, without `const` and stars.
    pub base: String,
    /// What it points to is not changed.
    pub constant: bool,
    /// Number of stars.
    pub stars: usize,
}

impl Parameter {
    /// Its type as C writes it.
    pub fn c_type(&self) -> String {
        let space = if self.stars > 0 { " " } else { "" };
        let constant = if self.constant { "const " } else { "" };
        format!("{constant}{}{space}{}", self.base, "*".repeat(self.stars))
    }

    /// A text that goes in.
    pub fn is_text(&self) -> bool {
        self.base == "char" && self.constant && self.stars == 1
    }
}

/// Reads `int NAME(TYPE PARAMETER, ...)`.
pub fn parse(text: &str) -> Result<Signature, String> {
    let wrong = || format!("'{text}' is no declaration of the form int NAME(TYPE PARAMETER, ...)");
    let rest = text.strip_prefix("int ").ok_or_else(wrong)?;
    let (name, rest) = rest.split_once('(').ok_or_else(wrong)?;
    let list = rest.strip_suffix(')').ok_or_else(wrong)?;
    if !is_name(name) {
        return Err(wrong());
    }
    let mut parameters = Vec::new();
    if list != "void" {
        for part in list.split(", ") {
            parameters.push(parameter(part).ok_or_else(|| format!("'{part}' is no parameter"))?);
        }
    }
    let mut names: Vec<&str> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    names.sort_unstable();
    if let Some(twin) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("the parameter '{}' is twice", twin[0]));
    }
    Ok(Signature { name: name.to_owned(), parameters })
}

fn parameter(text: &str) -> Option<Parameter> {
    let (kind, last) = text.rsplit_once(' ')?;
    let name = last.trim_start_matches('*');
    let (constant, base) = kind.strip_prefix("const ").map_or((false, kind), |base| (true, base));
    (is_name(name) && is_name(base)).then(|| Parameter {
        name: name.to_owned(),
        base: base.to_owned(),
        constant,
        stars: last.len() - name.len(),
    })
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_taken_apart() {
        let found = parse("int MPIRT_A_b(MPIRT_A a, const char *name, void **value)").expect("it is right");
        assert_eq!(found.name, "MPIRT_A_b");
        let about: Vec<_> = found
            .parameters
            .iter()
            .map(|one| (one.name.as_str(), one.base.as_str(), one.constant, one.stars))
            .collect();
        assert_eq!(
            about,
            [("a", "MPIRT_A", false, 0), ("name", "char", true, 1), ("value", "void", false, 2)]
        );
        assert!(found.parameters[1].is_text());
        let types: Vec<String> = found.parameters.iter().map(Parameter::c_type).collect();
        assert_eq!(types, ["MPIRT_A", "const char *", "void **"]);
        assert!(parse("int MPIRT_Commit(void)").expect("it is right").parameters.is_empty());
    }

    #[test]
    fn what_is_no_declaration_is_refused() {
        for text in
            ["void a(void)", "int a(int)", "int a(int x, int x)", "int a()", "int a(int x", "int (int x)"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
