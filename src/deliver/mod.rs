//! Text to places: files, step summary, annotations. What the text says is made in `report`.
