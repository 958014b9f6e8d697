"""Samplers of the literature that studies compare with; callers are not offered them."""
