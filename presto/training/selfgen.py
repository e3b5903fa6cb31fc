"""Self-distillation data: the target writes its own prompts and answers them.

Every row of the batch is an endless stream of documents ``header, opener, prompt, answer``. Rows
sit at different positions of one preallocated cache and a finished row starts its next document
over the cached header, so no step of the batch is ever idle. Each answer position keeps the
target's top-16 log-probabilities: the distillation labels.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from transformers.cache_utils import Cache, CacheLayerMixin

from presto.models.backbone import Backbone
from presto.models.text import Text
from presto.runs.stopping import Stop
from presto.training.documents import LABEL_WIDTH, Document
from presto.training.openers import OPENERS

LOOP_WINDOW, LOOP_DISTINCT = (
    32,
    8,
)  # an answer whose last 32 tokens use at most 8 distinct ones is stuck in a loop


class RaggedLayer(CacheLayerMixin):
    """One layer's K/V storage ``[rows, heads, length, head_dim]``, written at a position of its own
    in every row.
    """

    is_compileable = False
    is_sliding = False

    def __init__(self, cache: "RaggedCache") -> None:
        super().__init__()
        self.cache = cache

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        _, heads, _, dim = key_states.shape
        shape = (self.cache.rows, heads, self.cache.length, dim)
        self.keys, self.values = key_states.new_zeros(shape), value_states.new_zeros(shape)
        self.is_initialized = True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        rows, positions, used = self.cache.row_index, self.cache.positions, self.cache.used
        self.keys[rows, :, positions] = key_states[:, :, 0]
        self.values[rows, :, positions] = value_states[:, :, 0]
        return self.keys[:, :, :used], self.values[:, :, :used]

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self.cache.used, 0

    def get_seq_length(self) -> int:
        return self.cache.used - 1

    def get_max_length(self) -> int:
        return self.cache.length

    def reset(self) -> None:
        raise NotImplementedError("rows are reused in place: set their position")


class RaggedCache(Cache):
    """A K/V cache whose rows stand at different positions; ``positions [rows]`` says where the next
    token goes.

    ``used`` positions are looked at: known on the host, so that no layer waits for the device.
    """

    def __init__(self, layers: int, rows: int, length: int, device: torch.device) -> None:
        self.rows, self.length, self.used = rows, length, 1
        self.positions = torch.zeros(rows, dtype=torch.long, device=device)
        self.row_index = torch.arange(rows, device=device)
        super().__init__(layers=[RaggedLayer(self) for _ in range(layers)])

    def move(self, positions: np.ndarray) -> None:
        """Set where every row's next token goes."""
        self.positions.copy_(torch.from_numpy(positions))
        self.used = int(positions.max()) + 1


@dataclass
class Stream:
    """One row of the batch: the document it is writing and the tokens it still has to be fed."""

    forced: list[int]
    greedy: bool
    tokens: list[int] = field(default_factory=list)
    labels: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    answer_start: int = 0  # index of the first answer token; 0 while the prompt is being written


class Writer:
    """Batched self-generation: ``documents()`` yields finished documents until it is stopped."""

    def __init__(
        self,
        backbone: Backbone,
        text: Text,
        rows: int,
        seed: int,
        max_prompt: int,
        max_answer: int,
        greedy_share: float,
    ) -> None:
        turn = text.chat_turn()
        self.backbone, self.device, self.end = (
            backbone,
            backbone.device,
            text.tokenizer.eos_token_id,
        )
        self.header, self.bridge = list(turn.before), list(turn.after)
        self.openers = [list(text.encode(opener)) for opener in OPENERS]
        self.max_prompt, self.max_answer, self.greedy_share = max_prompt, max_answer, greedy_share
        self.random = np.random.default_rng(seed)
        self.noise = torch.Generator(device=self.device).manual_seed(seed)
        longest = (
            len(self.header)
            + max(map(len, self.openers))
            + max_prompt
            + len(self.bridge)
            + max_answer
        )
        layers = backbone.model.config.num_hidden_layers
        self.cache = RaggedCache(layers, rows, longest + 1, self.device)
        self.places = np.zeros(rows, np.int64)  # of the rows' next tokens
        self.streams = [self._new_stream(header=True) for _ in range(rows)]

    def _new_stream(self, header: bool) -> Stream:
        opener = list(self.openers[self.random.integers(len(self.openers))])
        stream = Stream(forced=opener, greedy=bool(self.random.random() < self.greedy_share))
        if header:
            stream.forced = [*self.header, *opener]
        else:
            stream.tokens = list(self.header)
        return stream

    @torch.inference_mode()
    def documents(self, stop: Stop) -> Iterator[Document]:
        feed = torch.tensor([stream.forced.pop(0) for stream in self.streams], device=self.device)
        while not stop.wanted:
            for stream, token in zip(self.streams, feed.tolist(), strict=True):
                stream.tokens.append(token)
            logits = self._forward(feed)
            sampled, ids, logprobs = self._sample(logits)
            following = []
            for row, stream in enumerate(self.streams):
                self.places[row] += 1
                if stream.answer_start and not stream.forced:
                    stream.labels.append((ids[row], logprobs[row]))
                token, document = self._advance(stream, int(sampled[row]))
                if document is not None:
                    yield document
                    self.streams[row] = self._new_stream(header=False)
                    self.places[row] = len(self.header)
                    token = self.streams[row].forced.pop(0)
                following.append(token)
            feed = torch.tensor(following, device=self.device)

    def _forward(self, feed: torch.Tensor) -> torch.Tensor:
        self.cache.move(self.places)
        positions = self.cache.positions
        columns = torch.arange(self.cache.used, device=positions.device)
        mask = (columns[None] <= positions[:, None])[:, None]
        embeds = self.backbone.embeddings(feed[:, None])
        hidden = self.backbone.hidden(embeds, positions[:, None], mask, self.cache)
        return self.backbone.logits(hidden[:, 0]).float()

    def _sample(self, logits: torch.Tensor) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Next token of every row (argmax, T = 0.8 in sampled answers, T = 0.9 in prompts) and the
        T = 1 labels.
        """
        top = torch.topk(logits, 64, dim=-1)
        logprobs = top.values - torch.logsumexp(logits, dim=-1, keepdim=True)
        heat = [0.9 if not s.answer_start else 0.0 if s.greedy else 0.8 for s in self.streams]
        temperature = torch.tensor(heat, device=logits.device)[:, None]
        uniform = torch.rand(
            top.values.shape, generator=self.noise, device=logits.device
        ).clamp_min(1e-9)
        choice = (top.values - temperature * torch.log(-torch.log(uniform))).argmax(
            -1, keepdim=True
        )
        sampled = top.indices.gather(-1, choice)[:, 0]
        labels = top.indices[:, :LABEL_WIDTH], logprobs[:, :LABEL_WIDTH]
        return sampled.cpu().numpy(), labels[0].int().cpu().numpy(), labels[1].half().cpu().numpy()

    def _advance(self, stream: Stream, sampled: int) -> tuple[int, Document | None]:
        """The token the row is fed next, or the document it has finished."""
        if stream.forced:
            return stream.forced.pop(0), None
        if not stream.answer_start:
            if sampled == self.end or len(stream.tokens) - len(self.header) >= self.max_prompt:
                stream.forced = self.bridge[1:]
                stream.answer_start = len(stream.tokens) + len(self.bridge)
                return self.bridge[0], None
            return sampled, None
        answer = stream.tokens[stream.answer_start :]
        looping = len(answer) >= LOOP_WINDOW and len(set(answer[-LOOP_WINDOW:])) <= LOOP_DISTINCT
        if sampled == self.end or looping or len(answer) + 1 >= self.max_answer:
            stream.tokens.append(sampled)
            return 0, self._document(stream)
        return sampled, None

    def _document(self, stream: Stream) -> Document:
        ids, logprobs = zip(*stream.labels, strict=True)
        return Document(
            np.array(stream.tokens, np.int32),
            stream.answer_start,
            np.stack(ids),
            np.stack(logprobs),
        )
