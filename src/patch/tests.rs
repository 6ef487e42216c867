use super::*;
use crate::release::Release;
use proptest::prelude::*;

fn tree(files: &[(&str, &str)]) -> SourceTree {
    let files = files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()));
    SourceTree { files: files.collect() }
}

fn described(file: &str, gives: &SourceTree) -> Patch {
    Patch {
        file: file.to_owned(),
        before: "1.22".parse::<Release>().unwrap().minor(),
        why: "for a test".to_owned(),
        tree_sha256: gives.sha256(),
    }
}

/// Applies `text`, which should turn `from` into `to`.
fn apply_one(from: &SourceTree, to: &SourceTree, text: &str) -> Result<SourceTree, PatchError> {
    apply_all(from, &[(&described("0001-x.patch", to), text)]).map(|patched| patched.tree)
}

fn error(from: &SourceTree, text: &str) -> String {
    apply_one(from, &SourceTree::default(), text).unwrap_err().to_string()
}

const POEM: &str = "one\ntwo\nthree\nfour\nfive\n";

const CHANGE: &str = "\
diff --git a/main.go b/main.go
index 0123456..789abcd 100644
--- a/main.go
+++ b/main.go
@@ -2,3 +2,3 @@ one
 two
-three
+3
 four
";

#[test]
fn a_file_is_changed_another_made_a_third_removed() {
    let from = tree(&[("main.go", POEM), ("old.go", "gone\n")]);
    let to = tree(&[("main.go", "one\ntwo\n3\nfour\nfive\n"), ("sub/new.go", "new\nhere\n")]);
    let text = CHANGE.to_owned()
        + "--- /dev/null\n+++ b/sub/new.go\n@@ -0,0 +1,2 @@\n+new\n+here\n"
        + "--- a/old.go\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n";
    assert_eq!(apply_one(&from, &to, &text).unwrap(), to);
}

#[test]
fn patches_build_on_one_another_and_are_known_by_their_digest() {
    let from = tree(&[("main.go", POEM)]);
    let between = tree(&[("main.go", "one\ntwo\n3\nfour\nfive\n")]);
    let to = tree(&[("main.go", "one\ntwo\n3\n4\nfive\n")]);
    let second = "--- a/main.go\n+++ b/main.go\n@@ -4 +4 @@\n-four\n+4\n";
    let patches = [(&described("1.patch", &between), CHANGE), (&described("2.patch", &to), second)];
    let patched = apply_all(&from, &patches).unwrap();
    assert_eq!(patched.tree, to);
    assert_eq!(patched.patches_sha256.len(), 64);
    let first = apply_all(&from, &patches[..1]).unwrap();
    assert_ne!(first.patches_sha256, patched.patches_sha256);
}

#[test]
fn no_patch_changes_nothing_and_has_no_digest() {
    let from = tree(&[("main.go", POEM)]);
    let patched = apply_all(&from, &[]).unwrap();
    assert_eq!((patched.tree, patched.patches_sha256.as_str()), (from, ""));
}

#[test]
fn a_line_that_differs_is_shown() {
    let from = tree(&[("main.go", "one\ntwo\ndrei\nfour\nfive\n")]);
    insta::assert_snapshot!(error(&from, CHANGE), @r#"0001-x.patch: main.go: hunk 1 does not apply: line 3: expected "three\n", found "drei\n""#);
    let short = tree(&[("main.go", "one\ntwo\n")]);
    insta::assert_snapshot!(error(&short, CHANGE), @r#"0001-x.patch: main.go: hunk 1 does not apply: line 3: expected "three\n", found the end of the file"#);
}

#[test]
fn a_hunk_that_would_fit_lower_down_is_not_moved() {
    let from = tree(&[("main.go", &format!("a\nb\nc\nd\n{POEM}"))]);
    let moved = tree(&[("main.go", "a\nb\nc\nd\none\ntwo\n3\nfour\nfive\n")]);
    // What diffy makes of it, which is why its word is not enough.
    let patch = diffy::Patch::from_str(CHANGE).unwrap();
    let source = str::from_utf8(&from.files["main.go"]).unwrap();
    assert_eq!(diffy::apply(source, &patch).unwrap().as_bytes(), moved.files["main.go"]);

    let error = apply_one(&from, &moved, CHANGE).unwrap_err();
    insta::assert_snapshot!(error, @r#"0001-x.patch: main.go: hunk 1 does not apply: line 2: expected "two\n", found "b\n""#);
}

#[test]
fn another_tree_than_the_suites_is_refused_with_both_digests() {
    // The patch applies where it says; the difference lies in a line it does not see.
    let from = tree(&[("main.go", "ONE\ntwo\nthree\nfour\nfive\n")]);
    let expected = tree(&[("main.go", "one\ntwo\n3\nfour\nfive\n")]);
    let found = tree(&[("main.go", "ONE\ntwo\n3\nfour\nfive\n")]);
    let error = apply_one(&from, &expected, CHANGE).unwrap_err();
    let (expected, found) = (expected.sha256(), found.sha256());
    assert_eq!(error, PatchError::Digest { patch: "0001-x.patch".into(), expected, found });
}

#[test]
fn hunks_whose_new_lines_are_misnumbered_are_caught_by_the_digest() {
    // The old place is right, and so is the text there; but diffy starts to look at the new one.
    let from = tree(&[("main.go", "x\ny\nx\n")]);
    let to = tree(&[("main.go", "z\ny\nx\n")]);
    let text = "--- a/main.go\n+++ b/main.go\n@@ -1 +3 @@\n-x\n+z\n";
    assert!(matches!(apply_one(&from, &to, text), Err(PatchError::Digest { .. })));
}

#[test]
fn names_stay_inside_the_programs_folder() {
    let from = tree(&[("main.go", POEM)]);
    for name in ["b/../main.go", "b//main.go", "b/sub/../../x", "b/", "\"b/a\\\\b\""] {
        let text = format!("--- /dev/null\n+++ {name}\n@@ -0,0 +1 @@\n+new\n");
        let message = error(&from, &text);
        assert!(message.contains("names no file in the program's folder"), "{name}: {message}");
    }
}

#[test]
fn files_must_be_there_or_not_as_the_patch_says() {
    let from = tree(&[("main.go", POEM)]);
    let change = |text: &str| error(&from, &format!("{text}@@ -1 +1 @@\n-one\n+1\n"));
    let absent = change("--- a/x.go\n+++ b/x.go\n");
    assert!(absent.contains(r#""x.go": is to be changed but is not there"#), "{absent}");
    let renamed = change("--- a/main.go\n+++ b/x.go\n");
    assert!(renamed.contains("the two names of a file must be the same"), "{renamed}");
    let there = error(&from, "--- /dev/null\n+++ b/main.go\n@@ -0,0 +1 @@\n+new\n");
    assert!(there.contains("is to be created but is there"), "{there}");
    let kept = error(&from, "--- a/main.go\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n");
    assert!(kept.contains("is to be deleted but has lines"), "{kept}");
}

#[test]
fn what_is_no_diff_is_refused() {
    let from = tree(&[("main.go", POEM)]);
    for text in ["", "no diff\n", &CHANGE[..CHANGE.len() - 6], "--- a/main.go\n+++ b/main.go\n@@ x"]
    {
        let message = error(&from, text);
        assert!(message.contains("not a unified diff"), "{text:?}: {message}");
    }
}

proptest! {
    #[test]
    fn a_diff_made_from_two_texts_leads_from_one_to_the_other(
        from in "([abc]{0,2}\n){0,12}[abc]{0,2}",
        to in "([abc]{0,2}\n){0,12}[abc]{0,2}",
    ) {
        prop_assume!(from != to);
        let patch = diffy::create_patch(&from, &to).to_string();
        let patch = patch
            .replace("--- original", "--- a/main.go")
            .replace("+++ modified", "+++ b/main.go");
        let (from, to) = (tree(&[("main.go", &from)]), tree(&[("main.go", &to)]));
        prop_assert_eq!(apply_one(&from, &to, &patch).unwrap(), to);
    }

    #[test]
    fn any_text_is_applied_or_refused(text in "(--- a/main.go\n\\+\\+\\+ b/main.go\n)?(@@ -[0-9],[0-9] \\+[0-9],[0-9] @@\n)?([ +-](one|two|x)\n|\\PC{0,9}\n){0,9}") {
        let _ = apply_one(&tree(&[("main.go", POEM)]), &SourceTree::default(), &text);
    }
}
