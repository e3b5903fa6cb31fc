"""What counts as output: tokens up to and including EOS, the token that completes a stop string, or
the cap.
"""

from collections.abc import Callable, Sequence

from presto.records import DecodeConfig, Finish


class Output:
    """The emitted tokens of a run and the reason it ended (``None`` while it goes on)."""

    def __init__(
        self, config: DecodeConfig, eos_ids: frozenset[int], piece: Callable[[int], bytes] | None
    ) -> None:
        if config.stop and piece is None:
            raise ValueError("stop strings need the tokenizer's pieces")
        self.tokens: list[int] = []
        self.finish: Finish | None = None
        self._cap, self._eos, self._piece = config.max_new_tokens, eos_ids, piece
        self._stops = [text.encode() for text in config.stop]
        self._tail = b""

    @property
    def room(self) -> int:
        """Tokens the cap still allows."""
        return self._cap - len(self.tokens)

    def emit(self, tokens: Sequence[int]) -> tuple[int, ...]:
        """Append ``tokens`` as far as the run goes on; returns those that count."""
        taken = []
        for token in tokens:
            if self.finish is not None:
                break
            taken.append(token)
            self.tokens.append(token)
            if token in self._eos:
                self.finish = "eos"
            elif self._completes_stop(token):
                self.finish = "stop"
            elif self.room == 0:
                self.finish = "length"
        return tuple(taken)

    def _completes_stop(self, token: int) -> bool:
        if not self._stops or self._piece is None:
            return False
        self._tail += self._piece(token)
        found = any(stop in self._tail for stop in self._stops)
        longest = max(map(len, self._stops))
        self._tail = self._tail[-longest:]
        return found


def cut_at_stop(text: str, stops: Sequence[str]) -> str:
    """``text`` up to the first stop string."""
    places = [place for place in (text.find(stop) for stop in stops) if place >= 0]
    return text[: min(places)] if places else text
