"""Work as databases hold it: these texts were written before the contract had types, and must stay readable."""

DRAWN = """
{"data_set": "digits", "model": null, "learning_rate": 0.01, "batch_size": 10, "labels_per_device": 3, "target": 0.85,
 "tolerance": 0.1, "sample_size": 4, "aggregations": 5, "aggregation_period": 5,
 "generator": {"topology": "erdos-renyi", "link_probability": 0.1, "mean_datapoints": 40.0, "budget": "loose",
  "n_devices": 30}}
"""

DRAWN_WITHOUT_MEAN = """
{"data_set": "fashion-mnist", "model": "cnn", "learning_rate": 0.01, "batch_size": 10, "labels_per_device": 3,
 "target": 0.85, "tolerance": 0.1, "sample_size": 5, "aggregations": 10, "aggregation_period": 5,
 "generator": {"topology": "geometric", "link_probability": 0.2, "budget": "scarce", "n_devices": 100}}
"""

GIVEN = """
{"data_set": "digits", "model": "softmax", "learning_rate": 0.01, "batch_size": 10, "labels_per_device": 3,
 "target": 0.85, "tolerance": 0.1, "sample_size": 1, "aggregations": 2, "aggregation_period": 2,
 "network": {
  "devices": {"data": [30.0, 40.0, 20.0], "processing_capacity": [1000.0, 1000.0, 1000.0],
   "processing_cost": [1.0, 1.0, 1.0], "receive_capacity": [50.0, 50.0, 50.0], "transmit_budget": [100.0, 100.0, 100.0],
   "label_counts": null},
  "links": {"source": [1, 2], "target": [0, 0], "similarity": [0.0, 0.25], "transmit_cost": [2.0, 3.0]},
  "changes": [
   {"step": 2, "devices": {"receive_capacity": [5.0, 5.0, 5.0]}, "links": null},
   {"step": 3, "devices": {}, "links": {"source": [2], "target": [0], "similarity": [0.25], "transmit_cost": [30.0]}}
  ]},
 "plan": {"sampled": [0], "relative_gap": 1e-07, "steps": [
  {"step": 1, "source": [1], "target": [0], "fraction": [0.5], "useful": 20.0},
  {"step": 2, "source": [], "target": [], "fraction": [], "useful": 0}
 ]}}
"""

WITH_LABELS = """
{"data_set": "digits", "model": null, "learning_rate": 0.01, "batch_size": 10, "labels_per_device": 3, "target": 0.85,
 "tolerance": 0.1, "sample_size": 1, "aggregations": 1, "aggregation_period": 1,
 "network": {
  "devices": {"data": [3.0, 4.0], "processing_capacity": [9.0, 9.0], "processing_cost": [1.0, 1.0],
   "receive_capacity": [5.0, 5.0], "transmit_budget": [5.0, 5.0], "label_counts": [[3.0, 0.0], [2.0, 2.0]]},
  "links": {"source": [], "target": [], "similarity": [], "transmit_cost": []}, "changes": []}}
"""

RECORD = """
{"aggregation": 3, "accuracy": 0.5, "loss": 1.25, "gradient_norm": 0.75, "gradient_noise": 1.5, "processed": 120,
 "moved": 40, "useful": 31, "predicted_useful": 30.5, "cost": 210.25}
"""
