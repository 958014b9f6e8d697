"""/v1/datasets: the data sets that validations can train on."""
