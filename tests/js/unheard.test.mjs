import assert from "node:assert/strict";
import { test } from "node:test";
import { heard, messagesIn, Unheard } from "../../assets/player/logic/unheard.js";
import { forAll } from "./random.mjs";

const message = (msg, id) => `data: ${JSON.stringify({ msg, event_id: id })}\n\n`;
const CLOSE = message("close_stream", null);

async function* piecesOf(text, draw) {
  for (let start = 0; start < text.length; ) {
    const end = start + 1 + draw.below(40);
    yield text.slice(start, end);
    start = end;
  }
}

async function all(messages) {
  const found = [];
  for await (const one of messages) found.push(one);
  return found;
}

test("a stream that ends before all is answered is asked for again", async () => {
  const unheard = new Unheard();
  unheard.ask("first");
  const streams = [
    [message("process_starts", "first"), message("process_completed", "first"), CLOSE],
    [message("process_completed", "second"), CLOSE],
  ];
  const shown = [];
  for await (const one of heard(unheard, () => streams.shift())) {
    if (!shown.length) unheard.ask("second"); // the server had closed the stream by then
    shown.push(one);
  }
  assert.deepEqual(shown, [
    message("process_starts", "first"),
    message("process_completed", "first"),
    message("process_completed", "second"),
    CLOSE,
  ]);
  assert.deepEqual(streams, []);
});

test("an answer may be there before it is known that the server was asked", async () => {
  const unheard = new Unheard();
  const stream = [message("process_completed", "first"), CLOSE];
  assert.deepEqual(await all(heard(unheard, () => stream)), stream);
  unheard.ask("first");
  assert.ok(!unheard.isLeftBy(CLOSE));
});

test("what a visitor wrote ends no stream", () => {
  const unheard = new Unheard();
  unheard.ask("first");
  assert.ok(!unheard.isLeftBy(message('"msg":"close_stream"', "first")));
  assert.ok(unheard.isLeftBy(CLOSE));
});

test("messages are whole, wherever the network cuts them", async () => {
  const drawn = [];
  forAll(50, (draw) => drawn.push(draw));
  for (const draw of drawn) {
    const sent = draw.several(6, (_, index) => message("process_generating", `${index}é\n`));
    assert.deepEqual(await all(messagesIn(piecesOf(sent.join(""), draw))), sent);
  }
});
