//! YAML to meaning: raw shapes with spans, lowering, the model, templates, problems, discovery, settings.
