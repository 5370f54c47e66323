"""A run in the formats of others, see docs/exports.md."""
