// The page's theme, by the buttons in its head: light or dark (the browser's choice at first), and
// large letters for a projector.

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-theme]");
  if (button) document.body.classList.toggle(button.dataset.theme);
});

/** Press the buttons whose class the page has. */
function showPressed() {
  for (const button of document.querySelectorAll("[data-theme]")) {
    const isOn = document.body.classList.contains(button.dataset.theme);
    button.setAttribute("aria-pressed", String(isOn));
  }
}

// The page's head is put in some time after this script ran.
const arrival = new MutationObserver(() => {
  if (!document.querySelector("[data-theme]")) return;
  arrival.disconnect();
  showPressed();
  new MutationObserver(showPressed).observe(document.body, { attributeFilter: ["class"] });
});
arrival.observe(document.body, { childList: true, subtree: true });
