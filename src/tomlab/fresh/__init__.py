"""Fresh items: stories drawn from a seed, with right answers derived from the stories' events.

See docs/fresh_items.md.
"""
