"""The paper's sampler: a graph convolutional network scores devices, a branch search picks them (Sec. IV)."""
