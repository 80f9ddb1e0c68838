// The processor as reports of speed by threads describe it, from what Linux would tell.

import { assertEquals } from "@std/assert";
import { describeProcessor, readProcessor } from "../../bench/processor.ts";

const CPU = "/sys/devices/system/cpu";

function told(files: Record<string, string>): string | undefined {
  const processor = readProcessor((path) => files[path]);
  return processor && describeProcessor(processor);
}

Deno.test("threads of a core and sockets are counted", () => {
  const files: Record<string, string> = { [`${CPU}/online`]: "0-3,8-11\n" };
  for (const core of [0, 1, 2, 3, 8, 9, 10, 11]) {
    files[`${CPU}/cpu${core}/topology/physical_package_id`] = `${core < 8 ? 0 : 1}\n`;
    files[`${CPU}/cpu${core}/topology/core_id`] = `${core >> 1 & 1}\n`;
  }
  assertEquals(told(files), "4 cores with 8 threads, 2 sockets");
});

Deno.test("kinds of cores are those that the system lists, or rates", () => {
  const online = { [`${CPU}/online`]: "0-5" };
  assertEquals(
    told({
      ...online,
      "/sys/devices/cpu_core/cpus": "0-1\n",
      "/sys/devices/cpu_atom/cpus": "2-5\n",
    }),
    "6 cores with 6 threads, 1 socket; of the threads 2 performance, 4 efficiency",
  );
  const rated = Object.fromEntries(
    [446, 446, 446, 446, 1024, 1024].map((capacity, core) => [
      `${CPU}/cpu${core}/cpu_capacity`,
      `${capacity}\n`,
    ]),
  );
  assertEquals(
    told({ ...online, ...rated }),
    "6 cores with 6 threads, 1 socket; of the threads 2 capacity 1024, 4 capacity 446",
  );
});

Deno.test("a system that tells nothing has no description", () => {
  assertEquals(told({}), undefined);
  assertEquals(told({ [`${CPU}/online`]: "0" }), "1 core with 1 thread, 1 socket");
});
