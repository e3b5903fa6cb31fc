"""What several tests build on: tiny systems, random inputs, synthetic traces."""
