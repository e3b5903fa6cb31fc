// The panel of scores: a tab per view of the round, and the chart of the chosen one.

import { draw, themed } from "./charts.js";
import { emptyFigure } from "./logic/figures.js";

const ABSENT = "Known when the run is over and its n-gram table is here.";

/** Per view its lead, and its label for those who cannot see the chart. */
const VIEWS = {
  scores: {
    lead: "rank of the same nodes under both scores",
    label:
      "Rank of every node under the prefix-blind and the prefix-aligned score; " +
      "the table has the same numbers.",
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
      "The target's likeliest tokens at the node where the round stopped, " +
      "and the children offered there.",
  },
  alternatives: {
    lead: "what each would have had accepted at this very state, by exact replay",
    label: "Tokens this round would have committed with other scorers at the same state.",
  },
};

/**
 * Choose among the tabs of `list` by click or arrow key; `onChoose` is told the name of the view.
 * Returns the function that chooses a view by its name.
 */
function listenTabs(list, onChoose) {
  const tabs = [...list.querySelectorAll("[role=tab]")];
  const choose = (tab) => {
    for (const other of tabs) {
      other.setAttribute("aria-selected", String(other === tab));
      other.tabIndex = other === tab ? 0 : -1;
    }
    onChoose(tab.dataset.view);
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

export class ScoresPanel {
  /** `part`: the elements scores, lead and remark; `on`: what pins a node and notes a view. */
  constructor(root, part, on) {
    this.part = part;
    this.on = on;
    this.chosen = "scores";
    this.round = null;
    this.choose = listenTabs(root.querySelector(".scores-panel [role=tablist]"), (name) => {
      this.chosen = name;
      on.view(name);
      if (this.round) this.draw(this.round, this.dark);
    });
  }

  /** Draw the chosen view of `round`; nothing while Plotly loads, as all is shown again then. */
  draw(round, dark) {
    Object.assign(this, { round, dark });
    if (!window.Plotly) return;
    const { lead, label } = VIEWS[this.chosen];
    const remark = round.remarks[this.chosen] ?? "";
    this.part.lead.textContent = lead;
    this.part.remark.textContent = remark;
    const figure = themed(round[this.chosen] ?? emptyFigure(ABSENT), dark);
    draw(this.part.scores, figure, `${label} ${remark}`, {
      plotly_click: (event) => {
        const node = parseInt(event.points[0].id, 10);
        if (!Number.isNaN(node)) this.on.pin(node);
      },
    });
  }
}
