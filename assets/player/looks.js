// The page's looks, by the buttons in its head: light or dark (the browser's choice at first), and large for a projector.

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-look]");
  if (button) document.body.classList.toggle(button.dataset.look);
});

/** Press the buttons whose look is on. */
function show() {
  for (const button of document.querySelectorAll("[data-look]"))
    button.setAttribute(
      "aria-pressed",
      String(document.body.classList.contains(button.dataset.look)),
    );
}

// The head is there some time after this script.
const arrival = new MutationObserver(() => {
  if (!document.querySelector("[data-look]")) return;
  arrival.disconnect();
  show();
  new MutationObserver(show).observe(document.body, { attributeFilter: ["class"] });
});
arrival.observe(document.body, { childList: true, subtree: true });
