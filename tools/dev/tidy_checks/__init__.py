"""The checks behind tools/dev/tidy: one module each, a function check(tree) that returns findings."""
