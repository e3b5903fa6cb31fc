// Gradio's event streams by WebSocket: over HTTP/1.1 a browser opens six connections to a host for
// all its tabs, and every tab whose run decodes or waits would hold one. `ui/streams.py` answers.
// However it is asked for, no stream ends before all is heard that the page asked for.

import { heard, Unheard } from "./logic/unheard.js";

const STREAM = "/gradio_api/queue/data";
const JOIN = "/gradio_api/queue/join";
const OVER = 1000; // close code of a stream that came to its end
const PATIENCE = 3000; // milliseconds for a WebSocket to open

const fetchPlainly = window.fetch;
const unheard = new Unheard();
const [page] = performance.getEntriesByType("navigation");
// By the browser, which needs no WebSocket, or by something in between that lets none through.
let isRefused = page?.nextHopProtocol !== "http/1.1";

/** The messages of an open `socket` as the body of an answer, until `signal` is aborted. */
function bodyOf(socket, signal) {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      const leave = () => {
        socket.onmessage = socket.onclose = null;
        socket.close();
        controller.close();
      };
      socket.onmessage = ({ data }) => controller.enqueue(encoder.encode(data));
      socket.onclose = ({ code }) => {
        signal.removeEventListener("abort", leave);
        if (code === OVER) controller.close();
        else controller.error(new TypeError("The connection was lost."));
      };
      if (signal.aborted) leave();
      else signal.addEventListener("abort", leave);
    },
  });
}

/** What `fetch` would answer to the `request`, asked for by WebSocket. */
function fetchBySocket({ url, signal }) {
  const socket = new WebSocket(url.replace(/^http/, "ws"));
  return new Promise((resolve, reject) => {
    const refuse = () => {
      clearTimeout(timer);
      socket.onopen = () => socket.close(); // not before it is open, which browsers warn of
      reject(new TypeError("No WebSocket to this server."));
    };
    const timer = setTimeout(refuse, PATIENCE);
    socket.onclose = refuse;
    socket.onopen = () => {
      clearTimeout(timer);
      resolve(new Response(bodyOf(socket, signal)));
    };
  });
}

/** Whether Gradio's Node process rendered the page: it hands no WebSocket on. */
const isRendered = () => Object.keys(window).some((name) => name.startsWith("__sveltekit"));

async function fetchOrCarry(request) {
  isRefused ||= isRendered();
  if (isRefused) return fetchPlainly(request);
  try {
    return await fetchBySocket(request);
  } catch {
    isRefused = true;
    return fetchPlainly(request);
  }
}

/** The pieces of text in the body of an answer. */
async function* textIn({ body }) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
}

/** The stream that `request` asks for, up to its true end. */
async function fetchStream(request) {
  let answer = await fetchOrCarry(request);
  if (!answer.ok) return answer;
  const ask = async () => {
    const next = answer ?? (await fetchOrCarry(request));
    answer = null;
    return textIn(next);
  };
  const { status, headers } = answer;
  const messages = heard(unheard, ask);
  const encoder = new TextEncoder();
  const body = new ReadableStream({
    async pull(controller) {
      const { value, done } = await messages.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
  });
  return new Response(body, { status, headers });
}

async function fetchEvents(input, init) {
  const { pathname } = new URL(input.url ?? input, window.location.href);
  if (pathname.endsWith(STREAM)) return fetchStream(new Request(input, init));
  const answer = await fetchPlainly(input, init);
  if (pathname.endsWith(JOIN) && answer.ok) unheard.ask((await answer.clone().json()).event_id);
  return answer;
}

window.fetch = fetchEvents;
