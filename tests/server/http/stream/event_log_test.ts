// Logs of streams: that each reader gets each byte behind its place once, whenever it comes and however
// often it comes back, and that memory and time are bounded. Streams in logs: resumable_test.ts.

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { EventLog, EventLogs } from "../../../../server/http/stream/event_log.ts";
import { HttpError } from "../../../../server/http/errors.ts";
import { later } from "../../../clock.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of pieces) text += decoder.decode(piece, { stream: true });
  return text;
}

/** A log of events "<0>", "<1>" and so on, with a comment between two of them. */
function logOf(events: number, log = new EventLog()): EventLog {
  for (let number = 0; number < events; number++) {
    log.add(bytes(`<${number}>`), true);
    log.add(bytes(":"), false);
  }
  return log;
}

Deno.test("a reader gets each byte behind its place once, from every place", async () => {
  const log = logOf(12);
  const all = await (() => {
    log.end();
    return textOf(log.read({ from: 0 }));
  })();
  assertEquals(log.size, all.length);
  for (let from = 0; from <= all.length; from++) {
    assertEquals(await textOf(log.read({ from })), all.slice(from));
  }
  for (let after = 0; after < 12; after++) {
    const rest = all.slice(all.indexOf(`<${after}>`) + `<${after}>`.length);
    assertEquals(await textOf(log.read({ after })), rest);
  }
});

Deno.test("readers that come early, late and in between get the same, while the log grows", async () => {
  const log = new EventLog();
  const readers = [textOf(log.read({ from: 0 }))];
  for (let number = 0; number < 40; number++) {
    logOf(1, log);
    if (number % 7 === 0) readers.push(textOf(log.read({ from: 0 })));
    if (number % 3 === 0) await Promise.resolve();
  }
  const half = textOf(log.read({ after: 19 }));
  log.end();
  const texts = await Promise.all(readers);
  assertEquals(new Set(texts).size, 1);
  assertEquals(texts[0]!.length, log.size);
  assertEquals((await half).split("<").length - 1, 20);
});

Deno.test("after the end nothing is added, and a failure comes behind all that there was", async () => {
  const log = logOf(2);
  log.end(new Error("cut"));
  log.add(bytes("more"), true);
  let text = "";
  await assertRejects(
    async () => {
      for await (const piece of log.read({ from: 0 })) text += new TextDecoder().decode(piece);
    },
    Error,
    "cut",
  );
  assertEquals(text, "<0>:<1>:");
});

Deno.test("a place that the stream does not have yet, or not any more, is refused", async () => {
  const log = new EventLog({ log: 4 * (3 + 1 + 2 * 128) });
  logOf(9, log);
  assert(log.held <= 4 * 260);
  assertThrows(() => log.read({ after: 9 }), HttpError, "9 events so far");
  assertThrows(() => log.read({ from: 37 }), HttpError, "36 bytes so far");
  assertThrows(() => log.read({ after: 3 }), HttpError, "no longer kept");
  assertThrows(() => log.read({ from: 19 }), HttpError, "no longer kept");
  log.end();
  assertEquals(await textOf(log.read({ after: 4 })), "<5>:<6>:<7>:<8>:");
  assertEquals(await textOf(log.read({ from: 20 })), "<5>:<6>:<7>:<8>:");
});

Deno.test("a reader that is left behind is told so, and one entry is kept however large it is", async () => {
  const log = new EventLog({ log: 1000 });
  const reader = log.read({ from: 0 });
  log.add(bytes("a"), true);
  await reader.next();
  for (let number = 0; number < 5000; number++) log.add(bytes("b"), true);
  await assertRejects(() => reader.next(), HttpError, "too slowly");
  log.add(bytes("c".repeat(5000)), true);
  log.end();
  assertEquals((await textOf(log.read({ after: 5000 }))).length, 5000);
  assertEquals(log.held, 5128);
});

Deno.test("all logs together are bounded: those that have ended go first, then beginnings", () => {
  const logs = new EventLogs({ all: 10 * 300 });
  const [first, second] = ["a", "b"].map((name) => logs.open(name));
  for (const log of [first!, second!]) logOf(4, log);
  first!.end();
  const third = logs.open("c");
  while (third.size < 40) {
    logOf(1, third);
    logs.trim();
    assert(logs.held <= 3000);
  }
  assertEquals([logs.find("a"), logs.find("b"), logs.find("c")], [undefined, second, third]);
  assertEquals(second!.read({ from: 0 }) !== undefined, true);
  assertThrows(() => third.read({ from: 0 }), HttpError, "no longer kept");
});

Deno.test("logs of answers that have ended are kept for a time, and only so many", () => {
  const logs = new EventLogs({ ended: 2, age: 30_000 });
  for (const name of ["a", "b", "c", "d"]) logs.open(name).end();
  const running = logs.open("e");
  assertEquals(["a", "b", "c", "d", "e"].map((name) => logs.find(name) !== undefined), [
    false,
    false,
    true,
    true,
    true,
  ]);
  using _clock = later(40_000);
  assertEquals(logs.matching(() => true), [["e", running]]);
});

Deno.test("another log of a name ends the answer before it, as removing it does", () => {
  const logs = new EventLogs();
  const first = logs.open("a");
  const second = logs.open("a");
  assertEquals([first.signal.aborted, second.signal.aborted], [true, false]);
  logs.discard(first, new Error("never began"));
  assertEquals(logs.find("a"), second);
  assertEquals([logs.remove("a"), logs.remove("a")], [true, false]);
  assert(second.signal.aborted);
});
