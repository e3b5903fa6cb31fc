// A tree grown by hand: paths of ranks, each of which adds one node.

/** The path that `rank` below `at` adds to `paths`; null where it is there already. */
export function addsTo(paths, at, rank) {
  const path = [...at, rank];
  return paths.some((one) => one.join() === path.join()) ? null : path;
}

/** `paths` from top to bottom as a tree reads: each below its parent, siblings by rank. */
export function inOrder(paths) {
  const compare = (a, b) => {
    for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i] - b[i];
    return a.length - b.length;
  };
  return [...paths].sort(compare);
}
