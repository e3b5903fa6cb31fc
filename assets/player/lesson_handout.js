// The hand-out: all chapters on two printed pages, with pictures from the run.

import { ask } from "./ask.js";
import { loadPlotly } from "./charts.js";
import { make } from "./dom.js";
import { fill } from "./logic/format.js";

/** The figure as an image, in the colours of paper. */
async function imageOf(figure, alt, plotly) {
  await loadPlotly(plotly);
  const layout = { ...figure.layout, width: 460, height: 200, paper_bgcolor: "#fff" };
  const image = make("img");
  image.src = await window.Plotly.toImage({ data: figure.data, layout }, { format: "svg" });
  image.alt = alt;
  return image;
}

/** Fill `box` with every chapter's text and question about the run that is `asked` about. */
export async function makeHandout(box, texts, { address, asked, plotly }) {
  const { ui, chapters, intro, tab } = texts;
  const parts = [];
  for (const chapter of chapters) {
    const answer = await ask(address("lesson"), { ...asked, chapter: chapter.id });
    if (answer.problem) continue;
    const { values, picture } = answer;
    if (!parts.length)
      parts.push(
        make("h1", `PRESTO · ${tab}`),
        make("p", `${intro} ${values.run} · ${ui.round} ${values.round}`),
      );
    const part = make("section");
    part.append(make("h2", `${parts.length - 1}. ${chapter.title}`));
    part.append(...chapter.text.map((text) => make("p", fill(text, values))));
    if (chapter.formula) part.append(make("p", chapter.formula.text, "mono"));
    part.append(
      make("p", `${ui.question}: ${fill(chapter.questions[0].ask, values)} ______`, "ask"),
    );
    const figure = picture.plot ?? picture.plots?.cost;
    if (figure) part.append(await imageOf(figure, chapter.title, plotly));
    parts.push(part);
  }
  box.replaceChildren(...parts);
}
