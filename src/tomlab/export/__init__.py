"""A run as logs of Inspect, see docs/exports.md."""
