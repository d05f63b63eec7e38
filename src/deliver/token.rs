//! Unguessable words, which untrusted text cannot contain.

/// 128 random bits in hexadecimal; `None` if the system gives no randomness.
pub(crate) fn random() -> Option<String> {
    let mut bits = [0_u8; 16];
    getrandom::fill(&mut bits).ok()?;
    Some(format!("{:032x}", u128::from_ne_bytes(bits)))
}

#[cfg(test)]
mod tests {
    use super::random;

    #[test]
    fn tokens_are_long_and_never_the_same() {
        let (one, other) = (random().unwrap(), random().unwrap());
        assert_eq!(one.len(), 32);
        assert_ne!(one, other);
    }
}
