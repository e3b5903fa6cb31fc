// Gradio's event streams by WebSocket: over HTTP/1.1 a browser opens six connections to a host for
// all its tabs, and every tab whose run decodes or waits would hold one. `ui/streams.py` answers.

const STREAM = "/gradio_api/queue/data";
const OVER = 1000; // close code of a stream that came to its end
const PATIENCE = 3000; // milliseconds for a WebSocket to open

const fetchPlainly = window.fetch;
let isRefused = false; // by something between page and server that lets no WebSocket through

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
    const timer = setTimeout(() => socket.close(), PATIENCE);
    socket.onclose = () => {
      clearTimeout(timer);
      reject(new TypeError("No WebSocket to this server."));
    };
    socket.onopen = () => {
      clearTimeout(timer);
      resolve(new Response(bodyOf(socket, signal)));
    };
  });
}

/** Whether Gradio's Node process rendered the page: it hands no WebSocket on. */
const isRendered = () => Object.keys(window).some((name) => name.startsWith("__sveltekit"));

async function fetchOrCarry(input, init) {
  const { pathname } = new URL(input.url ?? input, window.location.href);
  isRefused ||= isRendered();
  if (isRefused || !pathname.endsWith(STREAM)) return fetchPlainly(input, init);
  const request = new Request(input, init);
  try {
    return await fetchBySocket(request);
  } catch {
    isRefused = true;
    return fetchPlainly(request);
  }
}

const [page] = performance.getEntriesByType("navigation");
if (page?.nextHopProtocol === "http/1.1") window.fetch = fetchOrCarry;
