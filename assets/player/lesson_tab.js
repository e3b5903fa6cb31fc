// Opening the page "Learn" from another one.

/** Open the tab of the lesson; where the tabs do not show it, by its address. */
export function openLesson() {
  const tabs = document.querySelectorAll('#pages button[role="tab"]');
  const tab = [...tabs].find(({ textContent }) => textContent.trim() === "Learn");
  if (tab) tab.click();
  else window.location.search = "learn=1";
}
