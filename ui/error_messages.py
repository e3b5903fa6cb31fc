"""Messages for what went wrong: the visitor's part in one sentence, ours in the log."""

import logging
from html import escape

import gradio as gr

from presto.models.catalogue import WeightsError
from presto.models.memory import is_out_of_memory
from ui.lanes import Lane

FAILED = "The run failed on our side; the log has the details. Run again, or choose a recorded run."


class ServingError(RuntimeError):
    """The server ended a run; the message is one sentence with what to do."""


def reason(error: Exception) -> str:
    """Why a run failed, for the visitor."""
    if isinstance(error, (ValueError, WeightsError, ServingError)):
        return sentence(error)
    logging.getLogger(__name__).error("a live run failed", exc_info=error)
    return FAILED


def sentence(error: Exception) -> str:
    """An error as a sentence of its own."""
    text = str(error)
    return text[:1].upper() + text[1:]


def warn(text: str) -> None:
    """Show a message over the page. Gradio's are HTML; what is foreign in ours stays characters."""
    gr.Warning(escape(text, quote=False))


def reason_in(lane: Lane, error: Exception) -> str:
    """The same for an error in the middle of a lane, which may have been too large."""
    return no_memory(lane) if is_out_of_memory(error) else reason(error)


def no_memory(lane: Lane) -> str:
    """What to try after a lane did not fit into memory."""
    if lane.auto:
        return (
            "The machine ran out of memory before a budget was chosen: turn auto off and set a "
            "small one."
        )
    budget, tokens = lane.config.budget, lane.config.max_new_tokens
    halve_budget = lane.method != "ar" and budget > 1
    smaller = f"a budget of {budget // 2}" if halve_budget else f"{max(1, tokens // 2)} new tokens"
    return (
        f"The machine ran out of memory with a budget of {budget} and {tokens} new tokens: try "
        f"{smaller}."
    )


def stuck(seconds: int) -> str:
    """A round took longer than it may."""
    return (
        f"A round took longer than {seconds} seconds and was given up: run again with a smaller "
        "budget."
    )
