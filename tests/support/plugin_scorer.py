import presto


@presto.scorer("no_repeat", rho="e^−cost where t repeats the token before it")
def no_repeat(drafted, *, cost: float = 2.0):
    """A token that repeats the one before it loses."""
    return -cost * (drafted.parents[:, :, None] == drafted.tokens[:, None, :])
