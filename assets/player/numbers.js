// The numbers line, the bar of stages and the line that says where the run was made.

function entry({ name, value, meaning }) {
  const box = document.createElement("div");
  const term = document.createElement("dt"), text = document.createElement("dd");
  term.textContent = name;
  text.textContent = value;
  box.title = meaning;
  box.append(term, text);
  return box;
}

const named = (triples) => triples.map(([name, value, meaning]) => ({ name, value, meaning }));

/** `numbers`: [name, value, meaning] triples. */
export function showNumbers(box, numbers) {
  box.replaceChildren(...named(numbers).map(entry));
}

/** `stages`: [name, share of the time, milliseconds] triples. */
export function showStages(box, stages) {
  const parts = named(stages).map(({ name, value, meaning }) => {
    const part = document.createElement("span");
    part.className = `stage ${name}`;
    part.style.flexGrow = value;
    part.title = `${name}: ${meaning}`;
    part.textContent = value >= 0.06 ? `${name} ${Math.round(100 * value)} %` : "";
    return part;
  });
  const words = named(stages).map(({ name, value, meaning }) => `${name} ${Math.round(100 * value)} % (${meaning})`);
  box.setAttribute("aria-label", `Time by stage: ${words.join(", ")}`);
  box.replaceChildren(...parts);
}
