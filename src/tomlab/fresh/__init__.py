"""Fresh items: stories drawn from a seed, keys derived from their events (docs/fresh_items.md)."""
