"""Tree attention: every node's logits are those of its path run alone, in every mode that uses the
cache.
"""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from presto.models.selfspec import GatedSystem
from presto.records import Tree
from presto.records.tree import path
from tests.support.doubles import tiny_gated
from tests.support.examples import examples


@pytest.fixture(scope="module")
def system(device: torch.device) -> GatedSystem:
    return tiny_gated(3, device=device)


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    nodes = draw(st.integers(1, 14))
    parents = [-1, *(draw(st.integers(0, i)) for i in range(nodes))]
    tokens = [draw(st.integers(2, 22)) for _ in parents]
    zeros = (0.0,) * len(parents)
    return Tree(tuple(tokens), tuple(parents), (0,) * len(parents), zeros, zeros, zeros, zeros)


def alone(system: GatedSystem, prefix: list[int]) -> torch.Tensor:
    """Logits after ``prefix``, by one plain causal pass without any cache."""
    with torch.inference_mode():
        logits: torch.Tensor = system.backbone.model(
            torch.tensor([prefix], device=system.device), use_cache=False
        ).logits[0, -1]
    return logits


@settings(max_examples=examples(60))
@given(tree=trees(), prompt=st.lists(st.integers(2, 22), min_size=1, max_size=6))
def test_tree_logits_are_path_logits(system: GatedSystem, tree: Tree, prompt: list[int]) -> None:
    session = system.start((*prompt, tree.tokens[0]), 64)
    logits = session.verify(session.plan(tree))
    for node in range(len(tree.tokens)):
        below = [tree.tokens[i] for i in path(tree.parents, node)]
        torch.testing.assert_close(
            logits[node], alone(system, [*prompt, tree.tokens[0], *below]), rtol=1e-9, atol=1e-9
        )


@settings(max_examples=examples(40))
@given(tree=trees(), data=st.data())
def test_commit_leaves_the_cache_of_the_accepted_text(
    system: GatedSystem, tree: Tree, data: st.DataObject
) -> None:
    node = data.draw(st.integers(0, len(tree.tokens) - 1))
    nodes = path(tree.parents, node)
    session = system.start((4, 9, tree.tokens[0]), 64)
    session.verify(session.plan(tree))
    session.commit(tuple(nodes))
    text = [4, 9, tree.tokens[0], *(tree.tokens[i] for i in nodes)]
    assert session.cache.committed == len(text)
    after = session.verify(session.plan(Tree(tokens=(7,))))
    torch.testing.assert_close(after[0], alone(system, [*text, 7]), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("length", [0, 1, 5])
def test_the_gated_seed_row_is_the_target_and_the_masks_are_adapted(
    system: GatedSystem, length: int
) -> None:
    session = system.start((4, 9, 6), 64)
    draft = session.draft(6, length, top_k=5)
    assert draft.exact is not None
    torch.testing.assert_close(draft.exact, alone(system, [4, 9, 6]).cpu(), rtol=1e-9, atol=1e-9)
    assert len(draft.marginals.token_ids) == length
    # The masks left nothing behind: the cache is that of the committed text.
    after = session.verify(session.plan(Tree(tokens=(8,))))
    torch.testing.assert_close(after[0], alone(system, [4, 9, 6, 8]), rtol=1e-9, atol=1e-9)


def test_the_adapter_changes_the_marginals(system: GatedSystem, device: torch.device) -> None:
    with_adapter = system.start((4, 9, 6), 64).draft(6, 3, top_k=5).marginals
    plain = tiny_gated(3, device=device)
    for parameter in plain.adapter.up.values():
        torch.nn.init.zeros_(parameter)
    assert plain.start((4, 9, 6), 64).draft(6, 3, top_k=5).marginals != with_adapter
