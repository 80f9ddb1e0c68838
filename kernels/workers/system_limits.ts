// How many threads the system still gives this process, as Linux tells: by the limit of the user, and by
// those of the control groups that the process is in.

import { namesIn, readText } from "../../host/mod.ts";

/** Users that may have more threads than this are not counted: that would take long. */
const MANY_THREADS = 10_000;
/** Capabilities with which the limit of a user's threads does not hold: of administration, of resources. */
const UNLIMITED = (1n << 21n) | (1n << 24n);

/** The system's files, as an interface, so that tests can simulate other systems. */
export interface SystemFiles {
  /** The text of a file; undefined if there is none. */
  read(path: string): string | undefined;
  /** Names in a folder; undefined if there is none. */
  list(path: string): string[] | undefined;
}

/**
 * How many threads can be started now: what is left of the user's limit (ulimit -u) and of those of
 * the control groups (a container's --pids-limit). Infinity where nothing is known, as on all systems
 * but Linux.
 */
export function countFreeThreads(
  files: SystemFiles = { read: readText, list: namesIn },
): number {
  return Math.min(leftOfUser(files), ...leftOfGroups(files));
}

function leftOfUser({ read, list }: SystemFiles): number {
  const limit = Number(/^Max processes +(\d+)/m.exec(read("/proc/self/limits") ?? "")?.[1]);
  const own = read("/proc/self/status") ?? "";
  const user = userOf(own);
  const capabilities = BigInt(`0x${/^CapEff:\s*([\da-f]+)/m.exec(own)?.[1] ?? 0}`);
  const isBound = limit < MANY_THREADS && user !== undefined && user !== "0";
  if (!isBound || (capabilities & UNLIMITED) !== 0n) return Infinity;
  let threads = 0;
  for (const name of list("/proc") ?? []) {
    const status = /^\d+$/.test(name) ? read(`/proc/${name}/status`) : undefined;
    if (!status || userOf(status) !== user) continue;
    threads += Number(/^Threads:\s*(\d+)/m.exec(status)?.[1] ?? 1);
  }
  return limit - threads;
}

/** The real user of a process. */
function userOf(status: string): string | undefined {
  return /^Uid:\s*(\d+)/m.exec(status)?.[1];
}

/** What is left in each of the control groups that this process is in, from its own one upwards. */
function* leftOfGroups({ read }: SystemFiles): Generator<number> {
  const lines = (read("/proc/self/cgroup") ?? "").split("\n");
  for (const line of lines) {
    const [, kind, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (path === undefined || kind !== "" && !kind!.split(",").includes("pids")) continue;
    const root = kind === "" ? "/sys/fs/cgroup" : "/sys/fs/cgroup/pids";
    const parts = path.split("/").filter(Boolean);
    for (let depth = parts.length; depth >= 0; depth--) {
      const folder = [root, ...parts.slice(0, depth)].join("/");
      const limit = Number(read(`${folder}/pids.max`)?.trim());
      const current = Number(read(`${folder}/pids.current`)?.trim());
      // "max" and what is not there are no numbers.
      if (limit >= 0 && current >= 0) yield limit - current;
    }
  }
}
