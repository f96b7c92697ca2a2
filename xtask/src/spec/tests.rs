//! Small lists with one thing wrong each.

use super::*;

const SOURCES: &str =
    "[[source]]\ntitle = \"a thesis\"\nabout = \"it\"\n[[source]]\ntitle = \"this list\"\nabout = \"us\"\n";
const ERRORS: &str = "\
[error.SUCCESS]
number = 0
says = \"done\"
decided = \"this list\"
[error.INTERNAL]
number = 1
says = \"failed\"
decided = \"this list\"
[error.FULL]
number = 2
says = \"no room\"
decided = \"this list\"
[error.LATE]
number = 3
says = \"too late\"
decided = \"this list\"
[rule.live]
says = \"in time\"
errors = [\"LATE\"]
";
const TYPES: &str = "\
[MPIRT_Box]
kind = \"handle\"
says = \"a box\"
null = \"MPIRT_BOX_NULL\"
fact = \"a thesis, 1\"
";
const FUNCTIONS: &str = "\
title = \"Boxes\"

[MPIRT_Box_put]
c = \"int MPIRT_Box_put(MPIRT_Box box, const char *name, int *count)\"
says = \"Puts.\"
fact = \"a thesis, 2\"
rules = [\"live\"]
in.box = \"the box\"
in.name = \"what\"
out.count = \"how many\"
errors.FULL = \"the box is full\"
open = true
";
const REQUIREMENTS: &str = "\
title = \"Boxes\"
prefix = \"BOX\"

[BOX-PUT-01]
says = \"What is put is there.\"
fact = \"a thesis, 2.1\"

[BOX-TAKE-01]
says = \"What is taken is gone.\"
decided = \"this list\"
open = true
";
const TEST: &str = "// spec: BOX-PUT-01\n#[test]\nfn put() {}\n";

/// The list of these texts.
fn spec(requirements: &str, functions: &str, test: &str) -> Spec {
    let file = |path: &str, text: &str| TrackedFile {
        path: path.into(),
        executable: false,
        bytes: text.as_bytes().to_vec(),
    };
    Spec::of(&[
        file("spec/mpirt/errors.toml", ERRORS),
        file("spec/mpirt/functions/box.toml", functions),
        file("spec/mpirt/requirements/box.toml", requirements),
        file("spec/mpirt/sources.toml", SOURCES),
        file("spec/mpirt/types.toml", TYPES),
        file("tests/box.rs", test),
    ])
}

fn findings(requirements: &str, functions: &str, test: &str) -> Vec<String> {
    spec(requirements, functions, test).findings.iter().map(ToString::to_string).collect()
}

/// Asserts that the change gives exactly one finding, at this place, with this text.
fn one(found: &[String], place: &str, text: &str) {
    assert!(
        found.len() == 1 && found[0].starts_with(place) && found[0].contains(text),
        "wanted {place} ... {text}, found {found:#?}"
    );
}

#[test]
fn a_right_list_has_no_finding() {
    let spec = spec(REQUIREMENTS, FUNCTIONS, TEST);
    assert!(spec.findings.is_empty(), "{:?}", spec.findings);
    assert_eq!(spec.summary(), "2 requirements, 1 of them open; 1 functions, 1 of them open");
}

#[test]
fn a_requirement_has_a_test_or_is_open_and_never_both() {
    let place = "spec/mpirt/requirements/box.toml:4: ";
    one(&findings(REQUIREMENTS, FUNCTIONS, ""), place, "BOX-PUT-01 has no test");
    let both = TEST.replace("PUT-01", "PUT-01, BOX-TAKE-01");
    let place = "spec/mpirt/requirements/box.toml:8: ";
    one(&findings(REQUIREMENTS, FUNCTIONS, &both), place, "put in tests/box.rs:1 shows it");
}

#[test]
fn an_unknown_id_in_a_test_has_its_place() {
    let test = format!("{TEST}\n// spec: BOX-LOST-01\n#[test]\nfn lost() {{}}\n");
    one(&findings(REQUIREMENTS, FUNCTIONS, &test), "tests/box.rs:5: ", "BOX-LOST-01");
}

#[test]
fn an_id_twice_has_its_place() {
    let twice = format!("{REQUIREMENTS}\n[BOX-PUT-01]\nsays = \"Again.\"\nfact = \"a thesis\"\n");
    one(&findings(&twice, FUNCTIONS, ""), "spec/mpirt/requirements/box.toml:13: ", "duplicate key");
    let file = |path: &str| TrackedFile {
        path: path.into(),
        executable: false,
        bytes: REQUIREMENTS.as_bytes().to_vec(),
    };
    let mut found = Vec::new();
    let sources = TrackedFile { path: "s/sources.toml".into(), executable: false, bytes: SOURCES.into() };
    list::List::read(
        &[file("s/requirements/a.toml"), file("s/requirements/b.toml"), sources],
        "s/",
        &mut found,
    );
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].starts_with("s/requirements/b.toml:4: ")
            && found[0].ends_with("first in s/requirements/a.toml:4")
    );
}

#[test]
fn malformed_requirements_have_their_place() {
    let line = "spec/mpirt/requirements/box.toml:4: ";
    for (from, to, text) in [
        ("fact = \"a thesis, 2.1\"\n", "", "exactly one of"),
        ("fact = \"a thesis, 2.1\"\n", "fact = \"a thesis\"\ndecided = \"this list\"\n", "exactly one of"),
        ("a thesis, 2.1", "a rumour", "begins with no title"),
        ("a thesis, 2.1", "a thesis2", "begins with no title"),
        ("is there.", "is there", "full stop"),
        ("fact =", "colour = \"red\"\nfact =", "unknown field"),
        ("says = \"What is put is there.\"\n", "", "missing field"),
    ] {
        let changed = REQUIREMENTS.replacen(from, to, 1);
        let found: Vec<String> = findings(&changed, FUNCTIONS, TEST)
            .into_iter()
            // What is left out of the list is unknown to the test too.
            .filter(|finding| !finding.contains("is no requirement"))
            .collect();
        one(&found, line, text);
    }
    for id in ["BOX-PUT", "BOX-01", "BOX-put-01", "CAR-PUT-01", "BOX-PUT-1", "BOX--01"] {
        let changed = REQUIREMENTS.replace("BOX-PUT-01", id);
        one(&findings(&changed, FUNCTIONS, &TEST.replace("BOX-PUT-01", id)), line, "is no id");
    }
    let broken = REQUIREMENTS.replace("open = true", "open = ");
    assert!(findings(&broken, FUNCTIONS, "")[0].starts_with("spec/mpirt/requirements/box.toml:11: "));
}

#[test]
fn a_function_is_open_until_all_of_it_is_shown() {
    let half = format!("{TEST}// spec: MPIRT_Box_put\n#[test]\nfn right() {{}}\n");
    assert!(findings(REQUIREMENTS, FUNCTIONS, &half).is_empty());
    let whole = format!("{half}// spec: MPIRT_Box_put/FULL\n#[test]\nfn full() {{}}\n");
    let place = "spec/mpirt/functions/box.toml:3: ";
    one(&findings(REQUIREMENTS, FUNCTIONS, &whole), place, "take the mark away");
    let closed = FUNCTIONS.replace("open = true\n", "");
    assert!(findings(REQUIREMENTS, &closed, &whole).is_empty());
    one(&findings(REQUIREMENTS, &closed, &half), place, "MPIRT_Box_put/FULL");
}

#[test]
fn malformed_functions_have_their_place() {
    for (from, to, text) in [
        ("out.count", "in.count", "goes in, and is a pointer"),
        ("in.box", "out.box", "comes out, and is no pointer"),
        ("in.name = \"what\"\n", "", "stands in exactly one"),
        ("in.name", "in.other = \"x\"\nin.name", "no parameter 'other'"),
        ("[\"live\"]", "[\"dead\"]", "no rule 'dead'"),
        ("errors.FULL", "errors.EMPTY", "no error EMPTY"),
        ("errors.FULL", "errors.LATE", "LATE follows"),
        ("MPIRT_Box box", "MPIRT_Car box", "MPIRT_Car is not in types.toml"),
        ("int MPIRT_Box_put(", "int MPIRT_Box_get(", "the declaration is of MPIRT_Box_get"),
        ("fact = \"a thesis, 2\"", "decided = \"this list\"", "MPIRTX_ functions are decided"),
        ("rules =", "alias = \"MPIRT_box_put\"\nrules =", "a spelling of Appendix A"),
        ("rules =", "null = [\"count\"]\nrules =", "'count' cannot be null"),
    ] {
        let changed = FUNCTIONS.replacen(from, to, 1);
        one(&findings(REQUIREMENTS, &changed, TEST), "spec/mpirt/functions/box.toml:3: ", text);
    }
}

#[test]
fn errors_follow_from_rules_and_parameters() {
    let functions = FUNCTIONS.replace("errors.FULL", "null = [\"name\"]\nerrors.FULL");
    let spec = spec(REQUIREMENTS, &functions, TEST);
    let (errors, data_path) = spec.functions.describe(&spec.functions.functions[0]);
    // Those that the small list of codes lacks come first, in the order of their names.
    let wanted = [
        "INV_OBJECT",
        "NAME",
        "NULL_OBJECT",
        "NULL_POINTER",
        "STALE_OBJECT",
        "WRONG_CLASS",
        "INTERNAL",
        "FULL",
        "LATE",
    ];
    assert_eq!((errors.as_slice(), data_path), (wanted.map(String::from).as_slice(), false));
}

#[test]
fn the_list_is_shown() {
    let spec = spec(REQUIREMENTS, FUNCTIONS, TEST);
    let whole = show::table(&spec, false);
    assert!(whole.lines().any(|line| line.split_whitespace().eq(["Boxes", "2", "1", "1"])), "{whole}");
    assert!(whole.lines().any(|line| line.split_whitespace().eq(["BOX-PUT-01", "put"])), "{whole}");
    let open = show::table(&spec, true);
    assert!(open.contains("BOX-TAKE-01") && !open.contains("BOX-PUT-01"), "{open}");
    let json: serde_json::Value = serde_json::from_str(&show::json(&spec, false)).expect("it is JSON");
    assert_eq!(json["requirements"][0]["tests"][0]["path"], "tests/box.rs");
    assert_eq!(json["requirements"].as_array().map(Vec::len), Some(2));
    let function = &json["functions"][0];
    assert_eq!(function["own_errors"]["FULL"], "the box is full");
    assert_eq!(
        function["parameters"][1],
        serde_json::json!({"name": "name", "c": "const char *", "way": "in", "may_be_null": false, "says": "what"})
    );
    assert_eq!(
        (&json["errors"]["FULL"]["number"], &json["types"]["MPIRT_Box"]["kind"]),
        (&2.into(), &"handle".into())
    );
    let json: serde_json::Value = serde_json::from_str(&show::json(&spec, true)).expect("it is JSON");
    assert_eq!(json["requirements"][0]["id"], "BOX-TAKE-01");
}

#[test]
fn the_page_is_as_the_list() {
    let spec = spec(REQUIREMENTS, FUNCTIONS, TEST);
    let marks = ["groups", "appendix-a", "functions", "errors", "decisions"];
    let page: String =
        marks.iter().map(|name| format!("<!-- {name} -->\n<!-- end of {name} -->\n")).collect();
    let once = page::refresh(&page, &spec).expect("all marks are there");
    assert!(once.contains("| Boxes | 2 | 1 |") && once.contains("- `BOX-TAKE-01` What is taken is gone.\n"));
    assert!(!once.contains("BOX-PUT-01"), "a fact is no decision: {once}");
    assert_eq!(page::refresh(&once, &spec).expect("all marks are there"), once);
    assert!(page::refresh("", &spec).is_err());
}

#[test]
fn arguments_are_understood_or_refused() {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let request = parse(&words("--open --format json --page a.md")).expect("these are known");
    assert_eq!(request, Request { open: true, json: true, page: Some("a.md".into()), ..Request::default() });
    for wrong in ["--format xml", "--format", "--page", "open"] {
        assert!(parse(&words(wrong)).is_err(), "{wrong}");
    }
}

#[test]
fn the_header_holds_what_is_exported_and_the_types_that_it_needs() {
    let spec = Spec::read(&crate::workspace::root()).expect("the list of this repository");
    let some: std::collections::BTreeSet<String> = ["MPIRT_Buffer_create".to_owned()].into();
    let text = header::text(&spec, &some);
    assert!(text.contains("int MPIRT_Buffer_create(const char *name, void *base, size_t bufsize"), "{text}");
    assert!(text.contains("typedef struct MPIRT_Buffer { uint64_t bits; } MPIRT_Buffer;"), "{text}");
    assert!(!text.contains("MPIRT_Bufiter_insert") && !text.contains("MPIRTX_Task_function"), "{text}");
}

#[test]
fn what_a_value_or_a_field_means_is_said_of_all_or_of_none() {
    let read = |means: &str| {
        let text = format!(
            "[MPIRT_Lid]\nkind = \"structure\"\nsays = \"a lid\"\nfields = [\"int size\", \"char name[4]\"]\n{means}fact = \"a thesis, 1\"\n"
        );
        let found: std::collections::BTreeMap<String, functions::Type> =
            toml::from_str(&text).expect("a type");
        found.into_values().next().expect("one")
    };
    let all = read("means.size = \"in mm\"\nmeans.name = \"as engraved\"\n");
    assert_eq!(all.check(), Ok(()));
    let mut header = String::new();
    all.declare("MPIRT_Lid", &mut header);
    assert!(header.contains("    int size; /* in mm */\n    char name[4]; /* as engraved */\n}"), "{header}");
    assert_eq!(read("").check(), Ok(()));
    for wrong in ["means.size = \"in mm\"\n", "means.size = \"\"\nmeans.name = \"\"\nmeans.colour = \"\"\n"] {
        let fault = read(wrong).check().expect_err("it is not said of all, or of more");
        assert!(fault.contains("of all values or fields of a type, or of none"), "{fault}");
    }
}

/// What the list says of a function stands above its declaration; each returns an int.
// spec: ERROR-LIST-02, ERROR-RETURN-02
#[test]
fn the_header_tells_the_parameters_and_errors_of_each_function() {
    let root = workspace::root();
    let spec = Spec::read(&root).expect("the list of this repository");
    let text = std::fs::read_to_string(root.join(HEADER)).expect("the header");
    let mut told = 0;
    for function in spec.functions.functions.iter().filter(|one| spec.exported.contains(one.name())) {
        let start = format!("\nint {}(", function.name());
        let at = text.find(&start).unwrap_or_else(|| panic!("{} is not declared", function.name()));
        let above = &text[text[..at].rfind("\n/* ").expect("a comment stands above it")..at];
        assert!(above.contains(&function.entry.says), "{}", function.name());
        for parameter in function.parameters() {
            let line = format!("{}: {}", parameter.name, parameter.says);
            assert!(above.contains(&line), "{}: {line}", function.name());
        }
        let (errors, _) = spec.functions.describe(function);
        for error in errors.iter().filter(|error| *error != "INTERNAL") {
            assert!(above.contains(&format!("MPIRT_ERR_{error}: ")), "{}: {error}", function.name());
        }
        told += 1;
    }
    assert!(told > 100, "{told}");
}

/// Each error that a function lists of itself is made to happen by a test that says so.
// spec: ERROR-LIST-01
#[test]
fn every_error_of_every_function_has_its_test() {
    let findings = check(&workspace::root()).err().unwrap_or_default();
    let missing: Vec<&String> =
        findings.iter().filter(|finding| finding.contains("has no test of")).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Objects are made of leaf classes alone.
// spec: OBJECT-TREE-02
#[test]
fn no_abstract_class_can_be_created() {
    let spec = Spec::read(&workspace::root()).expect("the list of this repository");
    let creates: Vec<&str> = spec
        .functions
        .functions
        .iter()
        .map(functions::Function::name)
        .filter(|name| name.ends_with("_create"))
        .collect();
    assert!(creates.contains(&"MPIRT_Cvector_create") && creates.len() > 10, "{creates:?}");
    for class in ["Object", "Commitable", "Container", "Cvector_base", "Channel"] {
        let create = format!("MPIRT_{class}_create");
        assert!(!creates.contains(&create.as_str()), "{create}");
    }
}

/// The committed headers are those that the list makes.
// spec: LANG-HEADER-01, LANG-HEADER-03
#[test]
fn the_headers_of_the_repository_are_up_to_date() {
    let findings = check(&workspace::root()).err().unwrap_or_default();
    let stale: Vec<&String> = findings
        .iter()
        .filter(|finding| [HEADER, cpp::HEADER].iter().any(|name| finding.contains(name)))
        .collect();
    assert!(stale.is_empty(), "{stale:#?}");
}
