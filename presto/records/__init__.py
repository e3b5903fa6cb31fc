"""What a run leaves behind, and the numbers that follow from it. Plain data: no tensor, no
model.
"""

from presto.records.config import STRICT, DecodeConfig, Setting, changed, explain, settings
from presto.records.files import (
    MAX_TRACE_BYTES,
    load_recording,
    load_trace,
    recording_from_json,
    save,
    to_json,
    trace_from_json,
)
from presto.records.trace import (
    NGRAM,
    NO_PARENT,
    ROOT,
    Choice,
    Finish,
    Marginals,
    Method,
    Piece,
    Recording,
    Round,
    Stages,
    Trace,
    Tree,
    Verdict,
    plain,
)

__all__ = [
    "MAX_TRACE_BYTES",
    "NGRAM",
    "NO_PARENT",
    "ROOT",
    "STRICT",
    "Choice",
    "DecodeConfig",
    "Finish",
    "Marginals",
    "Method",
    "Piece",
    "Recording",
    "Round",
    "Setting",
    "Stages",
    "Trace",
    "Tree",
    "Verdict",
    "changed",
    "explain",
    "load_recording",
    "load_trace",
    "plain",
    "recording_from_json",
    "save",
    "settings",
    "to_json",
    "trace_from_json",
]
