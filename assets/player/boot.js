// Runs inside gr.HTML (js_on_load): finds the component's script on our own server and starts it.
// Gradio only lets events through whose names stand in quotes here.
const root = window.gradio_config?.root ?? window.location.origin;
const served = (path) => `${root}/gradio_api/file=${path}`;
const select = (detail) => trigger("select", detail);
const send = (detail) => trigger("upload", detail);
const submit = (detail) => trigger("submit", detail);
const asked = (what) => `${root}/gradio_api/what-if/${what}`;
import(served("SCRIPT_PATH"))
  .then(({ mount }) =>
    mount({
      element,
      props,
      select,
      send,
      submit,
      asked,
      watch,
      served,
      plotly: "PLOTLY_PATH",
      learn: "LEARN_PATH",
    }),
  )
  .catch((error) => {
    const problem = "The page is incomplete: its script did not load. Reload to try again.";
    element.querySelector('[data-part="message"]').textContent = `${problem} (${error.message})`;
  });
