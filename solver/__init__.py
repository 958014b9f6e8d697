"""The offloading solver: from a network and a sampled set to certified offloading, step by step."""
