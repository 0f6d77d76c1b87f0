"""What estimators share: parameters, labels, kept samples, prediction, density."""
