// Errors of the operating system as statuses and sentences for clients. The system's own words have
// absolute paths of this machine in them; those go to the log. Pure.

import type { ContentfulStatusCode } from "../dependencies.ts";

/** What a client is told of an error of the system. */
export interface SystemFault {
  readonly status: ContentfulStatusCode;
  readonly sentence: string;
}

/** Status where the disk has no room, may not be written, or is not what the settings say. */
export const INSUFFICIENT_STORAGE = 507 as ContentfulStatusCode;

const NAME: SystemFault = {
  status: 400,
  sentence: "a name in the request is too long, or has a character that no file name has",
};
const FILES: SystemFault = {
  status: 503,
  sentence: "the system gives the server no more open files: try again later; " +
    "its operator can raise the limit (ulimit -n)",
};
const THREADS: SystemFault = {
  status: 503,
  sentence: "the system gives the server no more threads or memory: try again later; " +
    "its operator can raise the limits (ulimit -u, --pids-limit)",
};
const FULL: SystemFault = {
  status: INSUFFICIENT_STORAGE,
  sentence: "the disk of the server is full: make room, for example by removing a model",
};
const FORBIDDEN: SystemFault = {
  status: INSUFFICIENT_STORAGE,
  sentence: "the server may not read or write one of its files: " +
    "its operator has to give it the right to, or set OLLAMA_MODELS to a folder of its own",
};
const MISPLACED: SystemFault = {
  status: INSUFFICIENT_STORAGE,
  sentence: "a folder that the server is set to use is none: its operator has to look at " +
    "OLLAMA_MODELS and QUERN_CACHE",
};
const OTHER: SystemFault = {
  status: INSUFFICIENT_STORAGE,
  sentence: "a file of the server cannot be read or written; its log says which, and why",
};

const FAULTS: Record<string, SystemFault> = {
  ENAMETOOLONG: NAME,
  EINVAL: NAME,
  EILSEQ: NAME,
  EMFILE: FILES,
  ENFILE: FILES,
  EAGAIN: THREADS,
  ENOMEM: THREADS,
  ENOSPC: FULL,
  EDQUOT: FULL,
  EFBIG: FULL,
  EACCES: FORBIDDEN,
  EPERM: FORBIDDEN,
  EROFS: FORBIDDEN,
  EEXIST: MISPLACED,
  ENOTDIR: MISPLACED,
  EISDIR: MISPLACED,
  ELOOP: MISPLACED,
};

/** What a client is told of an error; undefined if it is none of the system. */
export function systemFault(error: unknown): SystemFault | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (typeof code !== "string" || !/^E[A-Z\d]+$/.test(code)) return undefined;
  return FAULTS[code] ?? OTHER;
}
