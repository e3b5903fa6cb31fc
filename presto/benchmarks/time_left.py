"""How far a job of equal pieces is, and how long it will take."""

import time


class TimeLeft:
    """Counts finished pieces; the time left follows from those it has seen."""

    def __init__(self, pieces: int) -> None:
        self.pieces, self.done, self.began = pieces, 0, time.monotonic()

    def finished(self) -> str:
        """Another piece is done: how many of how many, and about how long the others take."""
        self.done += 1
        each = (time.monotonic() - self.began) / self.done
        left = (self.pieces - self.done) * each
        done = f"{self.done} of {self.pieces} done"
        return f"{done}, about {duration(left)} left" if self.done < self.pieces else done


def duration(seconds: float) -> str:
    """A rough duration in the largest unit that says it."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60:02} min"
