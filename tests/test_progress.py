"""How far a run is, in a sentence."""

from presto.records.measures import totals
from tests.support import synthetic
from viz.progress import progress


def test_it_names_tokens_rounds_speed_and_the_end() -> None:
    run = totals(synthetic.trace(rounds=5))
    left = (400 - run.tokens) / run.tokens_per_second
    told = f"{left:.0f}" if left >= 10 else f"{left:.1f}"
    speed = f"{run.tokens_per_second:.1f} tokens/s"
    assert progress("Linear", run, 400) == (
        f"Linear: {run.tokens} of at most 400 tokens in 5 rounds, {speed}, at most {told} s more."
    )
    assert progress("Linear", run, 400, is_sure=True) == (
        f"Linear: {run.tokens} of 400 tokens in 5 rounds, {speed}, about {told} s more."
    )


def test_before_the_first_round_and_at_the_end() -> None:
    assert progress("Linear", totals(synthetic.trace(rounds=0)), 9) == "Linear…"
    run = totals(synthetic.trace(rounds=1))
    assert "in 1 round, " in progress("Linear", run, 9)
    assert progress("Linear", run, run.tokens).endswith("at most 0.0 s more.")
