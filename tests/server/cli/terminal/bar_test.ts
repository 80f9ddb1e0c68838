// Lines of progress at every width, and the rate that they show.

import { assert, assertEquals } from "@std/assert";
import { type BarState, formatBar, RateMeter } from "../../../../server/cli/terminal/live_lines.ts";
import { widthOf } from "../../../../server/cli/terminal/format.ts";

const PULL: BarState = {
  label: "pulling 7cd4618c1faf",
  completed: 351e6,
  total: 815e6,
  rate: 12.2e6,
};

Deno.test("formatBar() gives up rate, then bar, then sizes, then the label as the window narrows", () => {
  const cases: [number, string][] = [
    [79, "pulling 7cd4618c1faf:  43% ▕███████           ▏ 351 MB/815 MB  12 MB/s   39s"],
    [69, "pulling 7cd4618c1faf:  43% ▕███     ▏ 351 MB/815 MB  12 MB/s   39s"],
    [68, "pulling 7cd4618c1faf:  43% ▕██████████               ▏ 351 MB/815 MB"],
    [51, "pulling 7cd4618c1faf:  43% ▕███     ▏ 351 MB/815 MB"],
    [50, "pulling 7cd4618c1faf:  43% 351 MB/815 MB"],
    [40, "pulling 7cd4618c1faf:  43% 351 MB/815 MB"],
    [39, "pulling 7cd4618c1faf:  43%"],
    [26, "pulling 7cd4618c1faf:  43%"],
    [20, "pulling 7cd46…:  43%"],
  ];
  for (const [columns, line] of cases) assertEquals(formatBar(PULL, columns), line);
});

Deno.test("formatBar() fits every width from 8 to 300, for wide labels too", () => {
  for (const label of ["pulling 7cd4618c1faf", "hashing 模型名称.gguf", "x", "long ".repeat(40)]) {
    for (const completed of [0, 1, 351e6, 815e6]) {
      for (let columns = 8; columns <= 300; columns++) {
        const line = formatBar({ ...PULL, label, completed }, columns);
        assert(widthOf(line) <= columns, `${columns}: ${line}`);
        assert(line.includes("%"), line);
      }
    }
  }
});

Deno.test("formatBar() keeps the bars of layers in step, and a whole one shows its size alone", () => {
  const states = [
    { ...PULL, completed: 0, rate: undefined },
    { ...PULL, total: 1200 },
    { ...PULL, completed: 815e6 },
    { ...PULL, rate: 0 },
  ];
  const lines = states.map((state) => formatBar(state, 79));
  assertEquals(lines.map((line) => line.indexOf("▏")), [46, 46, 46, 46]);
  assert(lines[2]!.endsWith("100% ▕██████████████████▏ 815 MB"), lines[2]);
  assert(lines[3]!.endsWith("351 MB/815 MB  0 B/s"), lines[3]);
  assert(formatBar({ label: "nothing", completed: 0, total: 0 }, 79).includes("100%"));
});

Deno.test("RateMeter tells the rate of the last seconds, and of a stall that there is none", () => {
  const meter = new RateMeter();
  meter.add(1000, 0);
  assertEquals(meter.rate(400), undefined);
  for (let time = 100; time <= 2000; time += 100) meter.add(1000 + time, time);
  assertEquals(meter.rate(2000), 1000);
  // Ten times as fast for longer than the window.
  for (let time = 2100; time <= 8000; time += 100) meter.add(3000 + 10 * (time - 2000), time);
  assertEquals(Math.round(meter.rate(8000)! / 1000), 10);
  assert(meter.rate(10_500)! < 6000);
  assertEquals(meter.rate(13_100), 0);
});

Deno.test("RateMeter begins anew where a retry goes back, and counts no bytes that were there before", () => {
  const meter = new RateMeter();
  meter.add(500e6, 0);
  meter.add(500e6 + 1000, 1000);
  assertEquals(meter.rate(1000), 1000);
  meter.add(0, 1100);
  assertEquals(meter.rate(1100), undefined);
  meter.add(3000, 2100);
  assertEquals(meter.rate(2100), 3000);
});
