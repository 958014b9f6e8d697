"""`fedsift train`: label realisations, train the samplers' networks on them, judge them on others."""
