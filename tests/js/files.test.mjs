import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { LARGEST, readRun } from "../../assets/player/logic/files.js";

const TEXT = JSON.stringify({ title: "漢字 🙂", rounds: Array(50_000).fill("é") });

test("a saved run is read whole, plain or compressed, however its bytes arrive", async () => {
  assert.equal(await readRun(new File([TEXT], "run.json")), TEXT);
  assert.equal(await readRun(new File([gzipSync(TEXT)], "run.json.gz")), TEXT);
  const bytes = new TextEncoder().encode(TEXT);
  const single = new ReadableStream({
    start(controller) {
      for (const byte of bytes.subarray(0, 30)) controller.enqueue(Uint8Array.of(byte));
      controller.enqueue(bytes.subarray(30));
      controller.close();
    },
  });
  assert.equal(await readRun({ name: "run.json", stream: () => single }), TEXT);
});

test("a file that is not compressed as its name says is refused with its name", async () => {
  const message = "bad.json.gz cannot be read: is it a run saved as .json or .json.gz?";
  await assert.rejects(readRun(new File(["nothing"], "bad.json.gz")), { message });
});

test("a file of the largest size is read, a larger one refused, also when compressed", async () => {
  const fits = "x".repeat(LARGEST);
  assert.equal((await readRun(new File([fits], "run.json"))).length, LARGEST);
  const message = /^big\S+ holds more than 16 MB, which is more than this page opens\.$/;
  await assert.rejects(readRun(new File([`${fits}x`], "big.json")), { message });
  await assert.rejects(readRun(new File([gzipSync(`${fits}x`)], "big.json.gz")), { message });
});
