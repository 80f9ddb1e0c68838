// The writer of the log against files that are full, gone or never read: lines may be lost, and are
// counted; whoever logs never waits.

import { assert, assertEquals } from "@std/assert";
import { LogWriter } from "../../server/log_writer.ts";
import { until } from "../until.ts";

/** A file that takes a number of bytes at a time, and fails while it is full. */
class FakeFile {
  readonly #bytes: number[] = [];
  room = Infinity;
  atATime = Infinity;

  readonly write = async (bytes: Uint8Array): Promise<number> => {
    await undefined;
    if (this.room === 0) throw new Error("No space left on device");
    const count = Math.min(bytes.length, this.room, this.atATime);
    this.room -= count;
    this.#bytes.push(...bytes.subarray(0, count));
    return count;
  };

  get text(): string {
    return new TextDecoder().decode(Uint8Array.from(this.#bytes));
  }
}

Deno.test("lines are written in order, whatever a write takes", async () => {
  const file = new FakeFile();
  file.atATime = 7;
  const writer = new LogWriter(file.write, () => {});
  const lines = Array.from({ length: 50 }, (_, index) => `line ${index} é\n`);
  for (const line of lines) writer.add(line);
  await writer.flush();
  assertEquals([file.text, writer.lost], [lines.join(""), 0]);
});

Deno.test("lines that a full disk does not take are counted, and told once it has room", async () => {
  const file = new FakeFile();
  const writer = new LogWriter(file.write, (lines) => writer.add(`lost ${lines}\n`));
  file.room = 9;
  for (const line of ["first\n", "second\n", "third\n"]) writer.add(line);
  await writer.flush();
  // The first is written alone, and the others together: the second is cut in the middle.
  assertEquals([file.text, writer.lost], ["first\nsec", 2]);
  writer.add("fourth\n");
  await writer.flush();
  assertEquals([file.text, writer.lost], ["first\nsec", 3]);
  file.room = Infinity;
  writer.add("fifth\n");
  await until(() => file.text.includes("lost"));
  assertEquals([file.text, writer.lost], ["first\nsec\nfifth\nlost 3\n", 3]);
});

Deno.test("lines for a pipe that nobody reads are bounded, and neither they nor the end wait", async () => {
  const writer = new LogWriter(() => new Promise(() => {}), () => {});
  const line = "x".repeat(999) + "\n";
  for (let count = 0; count < 5000; count++) writer.add(line);
  assert(writer.lost > 3500 && writer.lost < 4500, `${writer.lost}`);
  const began = performance.now();
  await writer.flush();
  assert(performance.now() - began < 10_000);
});
