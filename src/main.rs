//! The executable: hands over to the library.

fn main() {}
