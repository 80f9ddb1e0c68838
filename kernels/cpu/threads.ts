// How the threads of pools are started. In Deno 2.9.6 the worker of a worker begins a second late,
// because it waits there for a debugger. So a worker can have the main thread start its threads, with
// which it then talks through ports (engine/worker).

import {
  aloneBecause,
  namesIn,
  readText,
  readVariable,
  type WorkerThread,
} from "../../host/mod.ts";
import { GpuError } from "../errors.ts";
import { MOST_THREADS } from "./control.ts";
import { startWorker } from "../workers/start_worker.ts";

/** A thread that takes messages, from where it was started: a worker, or the port of one. */
export interface Thread {
  onmessage: ((event: MessageEvent) => void) | null;
  postMessage(message: unknown): void;
  /** Called if the thread fails; a port is not told. */
  onerror?: ((event: ErrorEvent) => void) | null;
  /** Ends a worker. What a port leads to ends by itself. */
  terminate?(): void;
  close?(): void;
}

/** The answer in place of a thread's that the system has no room for. */
export interface ThreadRefusal {
  /** The message of the ResourceError. */
  refused: string;
}

/** Starts a thread of a pool as a worker of the calling thread. Errors: ResourceError. */
export function startCpuThread(): WorkerThread {
  return startWorker(
    new URL("./cpu_worker.ts", import.meta.url),
    "Cannot start a thread of the CPU",
  );
}

/** Tells a pool, through the port that it was given, that its thread could not be started. */
export function refuseCpuThread(port: MessagePort, { message: refused }: Error): void {
  port.postMessage({ refused } satisfies ThreadRefusal);
}

let starter: () => Thread = startCpuThread;

/** Has the pools of this thread start their threads in another way. */
export function startCpuThreadsBy(start: () => Thread): void {
  starter = start;
}

/** Starts a thread in the way that was set. */
export function newThread(): Thread {
  return starter();
}

// The number of threads: one for each physical core that the process may use, since two threads of
// one core share the units that kernels occupy, and wait for each other at the end of each phase.
// Linux tells which CPUs belong to one core; elsewhere each CPU counts as one.

/**
 * The files in which a system describes its CPUs, as an interface, so that tests can simulate
 * others.
 */
export interface CpuFiles {
  /** The text of a file; undefined if there is none. */
  readText(path: string): string | undefined;
  /** Names in a folder; undefined if there is none. */
  namesIn(path: string): string[] | undefined;
}

/**
 * The number of threads: QUERN_THREADS, or else the number of cores; one where threads cannot share memory.
 * Errors: GpuError.
 *
 * @param said value of the variable; empty if it is not set
 */
export function defaultThreads(said = readVariable("QUERN_THREADS")): number {
  if (aloneBecause() !== undefined) return 1;
  if (said === "") return countCores(navigator.hardwareConcurrency, { readText, namesIn });
  const threads = Number(said);
  if (/^\d+$/.test(said) && threads >= 1 && threads <= MOST_THREADS) return threads;
  throw new GpuError(
    `Cannot start the threads of QUERN_THREADS: "${said}" is not a whole number from 1 to ${MOST_THREADS}`,
  );
}

const FOLDER = "/sys/devices/system/cpu";

/**
 * Physical cores that the process may use.
 *
 * @param concurrency CPUs that the process may use, by its affinity and the quota of its control group
 */
export function countCores(concurrency: number, files: CpuFiles): number {
  const allowed = allowedCpus(files);
  const cores = new Set<string>();
  for (const name of files.namesIn(FOLDER) ?? []) {
    const cpu = /^cpu(\d+)$/.exec(name)?.[1];
    if (cpu === undefined || allowed?.has(Number(cpu)) === false) continue;
    const siblings = files.readText(`${FOLDER}/${name}/topology/thread_siblings_list`);
    if (siblings !== undefined) cores.add(siblings.trim());
  }
  return Math.max(1, cores.size > 0 ? Math.min(cores.size, concurrency) : concurrency);
}

/** Numbers of the CPUs on which the process may run; undefined if they are not known. */
function allowedCpus({ readText }: CpuFiles): Set<number> | undefined {
  const list = /^Cpus_allowed_list:\s*([\d,-]+)$/m.exec(readText("/proc/self/status") ?? "")?.[1];
  if (list === undefined) return undefined;
  return new Set(
    list.split(",").flatMap((range) => {
      const [first, last = first] = range.split("-").map(Number);
      return Array.from({ length: last! - first! + 1 }, (_, i) => first! + i);
    }),
  );
}
