// The tabs of the score panel: which figure of a round is drawn, and what it is called for those who cannot see it.

export const VIEWS = {
  scores: {
    lead: "rank of the same nodes under both scores",
    label:
      "Rank of every node under the prefix-blind and the prefix-aligned score; the table has the same numbers.",
  },
  prediction: {
    lead: "path scores against the target's own path log-probability",
    label:
      "Path score of every node, blind and aligned, against the target's path log-probability.",
  },
  marginals: {
    lead: "the drafter's distribution per position: blind to the tokens before",
    label:
      "The drafter's marginals: likeliest tokens per drafted position, those in the tree outlined.",
  },
  stopping: {
    lead: "the target's own choice where the round ended, beside what the tree offered",
    label:
      "The target's likeliest tokens at the node where the round stopped, and the children offered there.",
  },
  rivals: {
    lead: "what each would have had accepted at this very state, by exact replay",
    label: "Tokens this round would have committed with other scorers at the same state.",
  },
};

/** Choose among the tabs of `list` by click or arrow key; `on(name)` is told. Returns what chooses one by its name. */
export function listenTabs(list, on) {
  const tabs = [...list.querySelectorAll("[role=tab]")];
  const choose = (tab) => {
    for (const other of tabs) {
      other.setAttribute("aria-selected", String(other === tab));
      other.tabIndex = other === tab ? 0 : -1;
    }
    on(tab.dataset.view);
  };
  list.addEventListener("click", (event) => {
    const tab = event.target.closest("[role=tab]");
    if (tab) choose(tab);
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation(); // the page's arrows step through rounds
    const next = tabs[(tabs.indexOf(event.target) + step + tabs.length) % tabs.length];
    next.focus();
    choose(next);
  });
  return (name) => choose(tabs.find((tab) => tab.dataset.view === name));
}
