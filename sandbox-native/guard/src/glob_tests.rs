use super::*;

fn matches(glob: &str, name: &str) -> bool {
    let read = read(&format!("/{glob}")).expect("the glob is right");
    read.iter().any(|one| match one.as_slice() {
        [Segment::Literal(literal)] => literal == name.as_bytes(),
        [Segment::Pattern(pattern)] => pattern.matches(name.as_bytes()),
        other => panic!("one segment wanted, found {other:?}"),
    })
}

#[test]
fn names_match_as_in_a_shell() {
    for (glob, name, wanted) in [
        ("*.key", "a.key", true),
        ("*.key", ".key", true),
        ("*.key", "a.keys", false),
        ("a?c", "a\u{e9}c", true),
        ("a?c", "ac", false),
        ("[!a-c]x", "dx", true),
        ("[!a-c]x", "bx", false),
        ("[]x]", "]", true),
        ("[a-]", "-", true),
        (r"\*", "*", true),
        (r"\*", "a", false),
        ("{a,b{c,d}}e", "bde", true),
        ("{a,b{c,d}}e", "be", false),
        ("{a,}b", "b", true),
        (r"[{]\{", "{{", true),
        ("a}", "a}", true),
        ("**a", "xa", true),
    ] {
        assert_eq!(matches(glob, name), wanted, "{glob} {name}");
    }
}

#[test]
fn what_is_no_glob_is_refused() {
    let many = format!("/{}", "{a,b}".repeat(11));
    let cases = [
        ("a", GlobFault::Relative),
        ("/[a", GlobFault::Unclosed),
        ("/{a", GlobFault::Unclosed),
        ("/a\\", GlobFault::Unclosed),
        ("/a/../b*", GlobFault::Meaningless),
        ("/[b-a]", GlobFault::Meaningless),
        (&many, GlobFault::TooLarge),
    ];
    for (glob, fault) in cases {
        assert_eq!(read(glob), Err(fault), "{glob}");
    }
}

#[test]
fn a_star_does_not_look_back_past_the_one_before_it() {
    // With back-tracking to every star this takes longer than the world has.
    let pattern = format!("{}b", "a*".repeat(100));
    assert!(!matches(&pattern, &"a".repeat(255)));
}
