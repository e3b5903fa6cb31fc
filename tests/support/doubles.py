"""Small systems for tests: random tiny transformers, and a scripted one whose target and drafter
are tables.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from presto.decoding.protocols import Draft, System, TreeInput
from presto.models.backbone import Backbone
from presto.models.lora import LowRankAdapter
from presto.models.quadratic import QuadraticGatedSystem
from presto.models.selfspec import GatedSystem
from presto.records import Marginals, Tree
from presto.records.tree import depths, paths_to
from presto.records.tree import path as path_to

ADAPTED = ("q_proj", "v_proj", "up_proj")


CPU = torch.device("cpu")


def tiny_llama(
    seed: int,
    vocab: int = 23,
    dtype: torch.dtype = torch.float64,
    context: int = 256,
    device: torch.device = CPU,
) -> Backbone:
    """A random two-layer Llama with grouped-query attention; sharp enough that its choices vary."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=vocab,
        hidden_size=24,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=context,
        initializer_range=0.3,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=1,
        tie_word_embeddings=True,
    )
    return Backbone(LlamaForCausalLM(config).to(device, dtype))


def tiny_gated(
    seed: int,
    vocab: int = 23,
    dtype: torch.dtype = torch.float64,
    context: int = 256,
    device: torch.device = CPU,
) -> GatedSystem:
    """A gated self-speculative pair with a random adapter that really changes the mask rows."""
    backbone = tiny_llama(seed, vocab, dtype, context, device)
    adapter = LowRankAdapter(backbone.model, rank=2, alpha=2.0, targets=ADAPTED)
    for parameter in adapter.up.values():
        torch.nn.init.normal_(parameter, std=0.3)
    return GatedSystem("tiny", backbone, frozenset({1}), adapter, torch.randn(24))


def systems(backbone: Backbone) -> list[System]:
    """Pairs of the target with a random adapter on its own linear layers."""
    torch.manual_seed(5)
    layers = backbone.decoder.named_modules()
    names = {name.rsplit(".", 1)[-1] for name, part in layers if isinstance(part, torch.nn.Linear)}
    names.discard("kv_b_proj")  # of latent attention: it reads the cache, not the rows of a pass
    adapter = LowRankAdapter(backbone.model, rank=2, alpha=2.0, targets=tuple(names))
    for parameter in adapter.up.values():
        torch.nn.init.normal_(parameter, std=0.3)
    parts = backbone, frozenset[int](), adapter, torch.randn(backbone.embeddings.weight.shape[1])
    return [GatedSystem("gated", *parts), QuadraticGatedSystem("quadratic", *parts)]


def tree_input(tree: Tree, start: int = 0) -> TreeInput:
    """A plan for systems without attention."""
    tokens, parents = torch.tensor(tree.tokens), torch.tensor(tree.parents).clamp(min=0)
    paths = torch.from_numpy(paths_to(tree.parents))
    return TreeInput(
        tokens, torch.tensor(depths(tree.parents)) + start, parents, paths, torch.ones(1, 1)
    )


def ancestor_mask(parents: Sequence[int]) -> torch.Tensor:
    """Boolean ``[N + 1, N + 1]``, from the definition: row i sees its ancestors and itself."""
    mask = torch.eye(len(parents), dtype=torch.bool)
    for node in range(len(parents)):
        mask[node, path_to(parents, node)] = True
        mask[node, 0] = True
    return mask


@dataclass
class Scripted:
    """A system without a model: ``choose(prefix)`` is the target's next token, ``guess(prefix,
    depth)`` the drafter's.

    The drafter offers ``width`` tokens per position: its guess first, then the following ids.
    """

    choose: Callable[[Sequence[int]], int]
    guess: Callable[[Sequence[int], int], int]
    vocab: int = 50
    width: int = 3
    exact: bool = False
    context: int = 512
    max_draft: int = 31
    eos_ids: frozenset[int] = frozenset({1})
    name: str = "scripted"
    mode: str = "scripted"
    device = CPU
    dtype = torch.float32
    closed: int = 0

    def start(self, prompt_ids: tuple[int, ...], capacity: int) -> "ScriptedSession":
        return ScriptedSession(self, list(prompt_ids[:-1]), capacity)

    def synchronise(self) -> None:
        pass

    def logits(self, prefix: Sequence[int]) -> torch.Tensor:
        row = torch.zeros(self.vocab)
        row[self.choose(prefix)] = 8.0
        return row


@dataclass
class ScriptedSession:
    system: Scripted
    cached: list[int]
    capacity: int
    tree: Tree | None = None

    def draft(self, anchor: int, length: int, top_k: int) -> Draft:
        system, prefix = self.system, [*self.cached, anchor]
        exact = system.logits(prefix) if system.exact else None
        if system.exact:
            self.cached.append(anchor)
        width = min(system.width, top_k)
        ids, log_q = [], []
        for depth in range(length):
            first = system.guess(prefix, depth)
            ids.append(tuple((first + i) % system.vocab for i in range(width)))
            log_q.append(tuple(-0.5 - i for i in range(width)))
        return Draft(Marginals(tuple(ids), tuple(log_q)), exact, 1)

    def plan(self, tree: Tree) -> TreeInput:
        self.tree = tree
        return tree_input(tree, len(self.cached))

    def verify(self, plan: TreeInput) -> torch.Tensor:
        tree = self.tree
        assert tree is not None
        assert len(self.cached) + len(plan.token_ids) <= self.capacity
        rows = []
        for node in range(len(tree.tokens)):
            below = [tree.tokens[i] for i in path_to(tree.parents, node)]
            rows.append(self.system.logits([*self.cached, tree.tokens[0], *below]))
        return torch.stack(rows)

    def commit(self, nodes: tuple[int, ...]) -> None:
        assert self.tree is not None
        self.cached += [self.tree.tokens[node] for node in (0, *nodes)]


class Letters:
    """A tokenizer whose tokens are characters."""

    def encode_chat(self, prompt: str, **_: object) -> tuple[int, ...]:
        return tuple(ord(letter) - 64 for letter in prompt)

    def piece(self, token: int) -> bytes:
        return bytes([64 + token])

    def decode(self, tokens: Iterable[int]) -> str:
        return "".join(chr(64 + token) for token in tokens)

    def labels(self, tokens: Iterable[int]) -> dict[int, str]:
        return {token: chr(64 + token) for token in tokens}
