//! Tests of what the verbs share, and of the files that are made from the options.

mod metadata;

use super::unless_panicked;

#[test]
fn a_verb_that_panics_could_not_be_carried_out() {
    assert_eq!(unless_panicked(|| 4), 4);
    assert_eq!(unless_panicked(|| panic!("for the test")), 3);
}
