"""The paper's claims and ours, each with the test that it rests on, computed from the committed curves."""
