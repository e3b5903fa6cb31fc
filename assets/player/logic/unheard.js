// Gradio's server ends a page's event stream when all that the page asked for is answered, and its
// client takes the stream for open until it has read that. What the page asks for in between is
// heard by nobody: its answer waits on the server, a Run that was pressed does nothing for ever.
// So such a stream is asked for again.

const COMPLETED = '"msg":"process_completed"';
const CLOSED = '"msg":"close_stream"';

/** What the server has taken from the page and not answered yet. */
export class Unheard {
  #asked = new Set();
  #answered = new Set(); // before it was known that they were taken

  /** The server took event `id`. */
  ask(id) {
    if (!this.#answered.delete(id)) this.#asked.add(id);
  }

  /** Whether the stream's `message` ends it too early: it is not to be passed on. */
  isLeftBy(message) {
    if (message.includes(COMPLETED))
      this.#answer(JSON.parse(message.slice("data:".length)).event_id);
    return message.includes(CLOSED) && this.#asked.size > 0;
  }

  #answer(id) {
    if (!this.#asked.delete(id)) this.#answered.add(id);
  }
}

/** The whole messages of an event stream that comes in `pieces` of text. */
export async function* messagesIn(pieces) {
  let rest = "";
  for await (const piece of pieces) {
    const messages = (rest + piece).split("\n\n");
    rest = messages.pop();
    for (const message of messages) yield `${message}\n\n`;
  }
}

/** The messages of a stream, `ask`ed for again for as long as it ends too early. */
export async function* heard(unheard, ask) {
  for (let isLeft = true; isLeft; ) {
    isLeft = false;
    for await (const message of messagesIn(await ask())) {
      if (unheard.isLeftBy(message)) isLeft = true;
      else yield message;
    }
  }
}
