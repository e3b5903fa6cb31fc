// Gradio's event streams by WebSocket: over HTTP/1.1 a browser opens six connections to a host for
// all its tabs, and every tab whose run decodes or waits would hold one. `ui/streams.py` answers.

const STREAM = "/gradio_api/queue/data";
const OVER = 1000; // close code of a stream that came to its end

const fetchPlainly = window.fetch;
let isRefused = false; // by something between page and server that lets no WebSocket through

/** The messages of an open `socket` as the body of an answer. */
function bodyOf(socket, signal) {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      socket.onmessage = ({ data }) => controller.enqueue(encoder.encode(data));
      socket.onclose = ({ code }) => {
        if (code === OVER) controller.close();
        else controller.error(new TypeError("The connection was lost."));
      };
      signal?.addEventListener("abort", () => {
        socket.onclose = null;
        socket.close();
        controller.error(signal.reason);
      });
    },
  });
}

/** What `fetch` would answer, asked for by WebSocket. */
function fetchBySocket(address, { signal } = {}) {
  const socket = new WebSocket(address.href.replace(/^http/, "ws"));
  return new Promise((resolve, reject) => {
    socket.onopen = () => resolve(new Response(bodyOf(socket, signal)));
    socket.onclose = () => reject(new TypeError("No WebSocket to this server."));
  });
}

async function fetchOrCarry(input, init) {
  const address = typeof input === "string" ? new URL(input, window.location.href) : null;
  if (isRefused || !address?.pathname.endsWith(STREAM)) return fetchPlainly(input, init);
  try {
    return await fetchBySocket(address, init);
  } catch {
    isRefused = true;
    return fetchPlainly(input, init);
  }
}

const [page] = performance.getEntriesByType("navigation");
if (page?.nextHopProtocol === "http/1.1") window.fetch = fetchOrCarry;
