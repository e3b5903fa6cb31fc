import presto


@presto.search("staircase", rows=lambda config: config.draft_length)
def staircase(space):
    """At every depth some children of the best node, fewer the deeper they are."""
    node, chosen = space.root, []
    for depth in range(len(space.tokens)):
        children = sorted(space.children(node), key=lambda child: child.key)
        chosen += children[: max(1, space.budget // 2 ** (depth + 1))]
        node = children[0]
    return chosen[: space.budget]
