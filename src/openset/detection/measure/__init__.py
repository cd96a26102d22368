"""What is measured of a detector: matching, wilderness, errors, OWOD, background, resampling."""
