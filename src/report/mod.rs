//! Outcomes to text, one file per format. Pure; where the text goes is decided in `deliver`.
