"""What a run leaves behind, and the numbers that follow from it. Plain data: no tensor, no
model.
"""

from presto.records.bounds import MAX_PROMPT_CHARACTERS, Piece
from presto.records.config import STRICT, DecodeConfig, Setting, changed, settings
from presto.records.explain import explain, quoted, shown
from presto.records.files import (
    MAX_TRACE_BYTES,
    load_recording,
    load_trace,
    recording_from_json,
    save,
    to_json,
    trace_from_json,
)
from presto.records.recording import Recording, check_lanes
from presto.records.trace import (
    NGRAM,
    NO_PARENT,
    ROOT,
    Choice,
    Finish,
    Marginals,
    Method,
    Round,
    Stages,
    Trace,
    Tree,
    Verdict,
    plain,
)

__all__ = [
    "MAX_PROMPT_CHARACTERS",
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
    "check_lanes",
    "explain",
    "load_recording",
    "load_trace",
    "plain",
    "quoted",
    "recording_from_json",
    "save",
    "settings",
    "shown",
    "to_json",
    "trace_from_json",
]
