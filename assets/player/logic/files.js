// Runs that a reader opens from a file.

export const LARGEST = 16 << 20; // bytes of a run's JSON, as in ui/files.py

const MEGABYTE = 1 << 20;

/** The text of a stream of bytes; null when it is longer than `LARGEST`. */
async function textOf(stream) {
  const parts = [];
  const decoder = new TextDecoder();
  let size = 0;
  for (const reader = stream.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return parts.join("") + decoder.decode();
    size += value.length;
    if (size > LARGEST) {
      await reader.cancel();
      return null;
    }
    parts.push(decoder.decode(value, { stream: true }));
  }
}

/**
 * The JSON of a run saved as .json or .json.gz. An `Error` with a sentence for the reader when the
 * file is too large, or not compressed as its name says.
 */
export async function readRun(file) {
  const isPacked = file.name.endsWith(".gz");
  const bytes = file.stream();
  let text;
  try {
    text = await textOf(isPacked ? bytes.pipeThrough(new DecompressionStream("gzip")) : bytes);
  } catch {
    throw new Error(`${file.name} cannot be read: is it a run saved as .json or .json.gz?`);
  }
  if (text !== null) return text;
  const most = `${LARGEST / MEGABYTE} MB`;
  throw new Error(`${file.name} holds more than ${most}, which is more than this page opens.`);
}
