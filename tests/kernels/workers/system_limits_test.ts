// What the system still gives: read from the files of systems that are made up, and of this one.

import { assert, assertEquals } from "@std/assert";
import { countFreeFiles } from "../../../host/mod.ts";
import { countFreeThreads, type SystemFiles } from "../../../kernels/workers/system_limits.ts";

/** A system with these files. */
function systemOf(files: Record<string, string>): SystemFiles {
  return {
    read: (path) => files[path],
    list: (path) =>
      Object.keys(files).filter((file) => file.startsWith(`${path}/`))
        .map((file) => file.slice(path.length + 1).split("/")[0]!),
  };
}

const limits = (processes: string) => ({
  "/proc/self/limits":
    "Limit                     Soft Limit           Hard Limit           Units\n" +
    `Max processes             ${processes.padEnd(20)} 96364                processes\n` +
    "Max open files            1024                 4096                 files\n",
});
const status = (user: number, threads: number, capabilities = "0000000000000000") =>
  `Name:\tdeno\nUid:\t${user}\t${user}\t${user}\t${user}\nThreads:\t${threads}\n` +
  `CapEff:\t${capabilities}\n`;
const processes = {
  "/proc/self/status": status(1000, 7),
  "/proc/12/status": status(1000, 7),
  "/proc/13/status": status(1000, 1),
  "/proc/14/status": status(0, 300),
  "/proc/uptime": "1.0 1.0\n",
};

Deno.test("countFreeThreads() is what the user's limit leaves, and what each control group leaves", () => {
  const cases: [what: string, files: Record<string, string>, free: number][] = [
    ["nothing is known", {}, Infinity],
    ["a limit of the user", { ...limits("10"), ...processes }, 2],
    ["no limit", { ...limits("unlimited"), ...processes }, Infinity],
    ["a limit that nobody reaches", { ...limits("96364"), ...processes }, Infinity],
    [
      "an administrator",
      { ...limits("10"), ...processes, "/proc/self/status": status(0, 7) },
      Infinity,
    ],
    [
      "a user who may exceed limits",
      { ...limits("10"), ...processes, "/proc/self/status": status(1000, 7, "0000000001000000") },
      Infinity,
    ],
    [
      "a container",
      {
        "/proc/self/cgroup": "0::/\n",
        "/sys/fs/cgroup/pids.max": "40\n",
        "/sys/fs/cgroup/pids.current": "33\n",
      },
      7,
    ],
    [
      "a group within a smaller one",
      {
        ...limits("100"),
        ...processes,
        "/proc/self/cgroup": "0::/user.slice/a.service\n",
        "/sys/fs/cgroup/user.slice/a.service/pids.max": "max\n",
        "/sys/fs/cgroup/user.slice/a.service/pids.current": "9\n",
        "/sys/fs/cgroup/user.slice/pids.max": "20\n",
        "/sys/fs/cgroup/user.slice/pids.current": "15\n",
      },
      5,
    ],
    [
      "groups of the first version",
      {
        "/proc/self/cgroup": "9:memory:/x\n8:pids:/a\n0::/\n",
        "/sys/fs/cgroup/pids/a/pids.max": "12\n",
        "/sys/fs/cgroup/pids/a/pids.current": "12\n",
      },
      0,
    ],
  ];
  for (const [what, files, free] of cases) {
    assertEquals([what, countFreeThreads(systemOf(files))], [what, free]);
  }
  assert(countFreeThreads() > 0);
});

Deno.test("countFreeFiles() counts up to a number, and leaves none open", () => {
  assertEquals([countFreeFiles(0), countFreeFiles(20), countFreeFiles(20)], [0, 20, 20]);
});

Deno.test("countFreeFiles() tells what the system's limit leaves", {
  ignore: Deno.build.os === "windows",
}, async () => {
  // In a process of its own: other tests open files in this one.
  const { href } = new URL("../../../host/machine.ts", import.meta.url);
  const program = `import { countFreeFiles } from "${href}";
    const before = countFreeFiles(1000);
    const files = Array.from({ length: 10 }, () => Deno.openSync("/dev/null"));
    console.log(before, countFreeFiles(1000), files.length);`;
  const command = `ulimit -n 100; exec "$0" eval --no-lock '${program}'`;
  const { stdout, stderr } = await new Deno.Command("sh", {
    args: ["-c", command, Deno.execPath()],
  }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  const [before, after, files] = decode(stdout).trim().split(" ").map(Number);
  assert(before > 0 && before < 100, decode(stdout) + decode(stderr));
  assertEquals([after, files], [before - 10, 10]);
});
