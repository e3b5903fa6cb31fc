"""The loop, the seam to models, the target's draw and its verdict."""
