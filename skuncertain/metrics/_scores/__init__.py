"""What scores and probabilities of rows tell: metrics, curves, thresholds and calibration."""
