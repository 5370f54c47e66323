"""Fresh items: stories drawn from a seed, with keys that follow from their events (docs/fresh.md)."""
