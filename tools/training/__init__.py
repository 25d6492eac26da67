"""What ``tools/train_classifier.py`` consists of: examples, vectors of words, twins, measures, the model card."""
