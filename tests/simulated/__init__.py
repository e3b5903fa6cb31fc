"""A CUDA device that is not there: the engine's GPU path runs and is counted on a CPU."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
