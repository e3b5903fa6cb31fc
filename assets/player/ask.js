// Questions to the server about a finished run, answered beside Gradio's queue (ui/what_if.py).

export const UNREACHED = "The server cannot be reached: try again.";

/** The answer to `question` as it comes; `signal` can end it. */
export function post(address, question, signal = null) {
  const headers = { "content-type": "application/json" };
  return fetch(address, { method: "POST", headers, body: JSON.stringify(question), signal });
}

/** The whole answer to `question`, or the problem that there is none. */
export async function ask(address, question) {
  try {
    return await (await post(address, question)).json();
  } catch {
    return { problem: UNREACHED };
  }
}
