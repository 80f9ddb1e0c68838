// Watches a server from a thread of its own, while another thread attacks it: asks /health every 50 ms
// beside a server that does nothing, reads one stream after the other of a model, looks at the memory.

import { CoreWaits, waitOf } from "./core_waits.ts";
import { memoryOf } from "./server.ts";
import { BYSTANDER_TOKENS, type Sight, type WatchOrder } from "./watch.ts";

/** Between two questions. In milliseconds. */
const INTERVAL = 50;
/** A stream without a piece for so long pauses. */
const PAUSE = 100;
/** A question without an answer is given up after this. */
const PATIENCE = 120_000;
/** More memory than this, and the server is killed: 6 GB. */
const MAX_MEMORY = 6e9;

/** Prompts to which the model in the box talks on and on, so that most of the time one is open. */
const PROMPTS = ["x x x x x x x x", "aaaaaaaaaaaaaaaa", "the the the the"];

let order: WatchOrder | undefined;
let controlUrl = "";
let sight = blank();
/** When the question, and the last piece of the stream, that are open came; else 0. */
const open = { health: 0, stream: 0, waited: 0 };
/** What the server's threads have waited for since the stream began to pause. */
let pauseWaits: CoreWaits | undefined;
const expected = new Map<string, string>();

function blank(): Sight {
  const nothing = { slowest: 0, beyondMachine: 0, longestPause: 0, pieces: 0, questions: 0 };
  return { ...nothing, memory: 0, wrong: [], isTooLarge: false };
}

const wait = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));

/** Milliseconds that those who answer /health have waited for a core: the server's main thread, and this. */
function waitsOf({ pid }: WatchOrder): number {
  return waitOf(`/proc/${pid}/task/${pid}/schedstat`) + waitOf("/proc/thread-self/schedstat");
}

/** Milliseconds until an address has answered; infinite if it did not. */
async function timeOf(url: string): Promise<number> {
  const start = performance.now();
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PATIENCE) });
    await response.body?.cancel();
    return performance.now() - start;
  } catch {
    return Infinity;
  }
}

async function askHealth(): Promise<void> {
  for (;; await wait(INTERVAL)) {
    const current = order;
    if (!current) continue;
    open.health = performance.now();
    open.waited = waitsOf(current);
    const [time, machine] = await Promise.all([
      timeOf(`${current.url}/health`),
      timeOf(controlUrl),
    ]);
    const waited = waitsOf(current) - open.waited;
    open.health = 0;
    // A server that has ended is not slow.
    if (current !== order || time === Infinity) continue;
    sight.questions++;
    sight.slowest = Math.max(sight.slowest, time);
    sight.beyondMachine = Math.max(sight.beyondMachine, time - Math.max(machine, waited));
    sight.memory = Math.max(sight.memory, memoryOf(current.pid));
    if (sight.memory > MAX_MEMORY && !sight.isTooLarge) {
      sight.isTooLarge = true;
      Deno.kill(current.pid, "SIGKILL");
    }
  }
}

async function readStreams(): Promise<void> {
  for (let round = 0;; round++) {
    const current = order;
    if (!current?.isListening) {
      await wait(INTERVAL);
      continue;
    }
    try {
      await readStream(current, PROMPTS[round % PROMPTS.length]!);
    } catch {
      // The server has ended, which the other thread sees for itself.
      open.stream = 0;
      await wait(INTERVAL);
    }
  }
}

async function readStream(current: WatchOrder, prompt: string): Promise<void> {
  const options = { temperature: 0, num_predict: BYSTANDER_TOKENS };
  const body = JSON.stringify({ model: "quern:tiny", raw: true, prompt, options });
  const response = await fetch(`${current.url}/api/generate`, { method: "POST", body });
  let text = "";
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    if (current !== order) continue;
    const now = performance.now();
    notePause(now);
    open.stream = now;
    pauseWaits = undefined;
    sight.pieces++;
    text += piece;
  }
  open.stream = 0;
  if (current === order) judge(prompt, response.status, text);
}

/** Notes a pause up to now, less what the server waited for cores in it. */
function notePause(now: number): void {
  if (open.stream === 0) return;
  const pause = now - open.stream - (pauseWaits?.longest() ?? 0);
  sight.longestPause = Math.max(sight.longestPause, pause);
}

function lookForPause(): void {
  const pauses = open.stream > 0 && performance.now() - open.stream > PAUSE;
  if (pauses && order) pauseWaits ??= new CoreWaits(order.pid);
}

/** What a stream says is what the first one to that prompt said. */
function judge(prompt: string, status: number, text: string): void {
  // A full queue sends clients away, this one too.
  if (status === 503) return;
  const records = text.trimEnd().split("\n").map((line) => JSON.parse(line));
  const last = records.at(-1);
  const said = records.map(({ response }) => response ?? "").join("");
  if (status !== 200 || !last?.done) {
    sight.wrong.push(`another client was told ${status} ${JSON.stringify(last)}`);
  } else if (said !== (expected.get(prompt) ?? said)) {
    sight.wrong.push(`another client read ${JSON.stringify(said)}, not what it read alone`);
  } else {
    expected.set(prompt, said);
  }
}

/** What was seen, with what is still waited for. */
function look(): Sight {
  const now = performance.now();
  const { health, waited } = open;
  notePause(now);
  const { slowest, beyondMachine } = sight;
  const late = health > 0 && order ? now - health : 0;
  const own = late > 1000 ? late - (waitsOf(order!) - waited) : 0;
  return {
    ...sight,
    slowest: Math.max(slowest, late),
    beyondMachine: Math.max(beyondMachine, own),
  };
}

self.onmessage = ({ data }: MessageEvent) => {
  if (data.control) controlUrl = data.control;
  if ("order" in data) {
    order = data.order;
    open.stream = 0;
    pauseWaits = undefined;
  }
  if (data.look) self.postMessage(look());
  if (data.look || "order" in data) sight = blank();
};
askHealth();
readStreams();
setInterval(lookForPause, PAUSE);
