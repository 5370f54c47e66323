"""A run in the formats of others, each checked by its own library; see docs/exports.md."""
