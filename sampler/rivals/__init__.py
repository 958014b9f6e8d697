"""Samplers of the literature, for comparison in studies. Callers of the service are not offered them."""
