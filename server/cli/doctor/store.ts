// The section about the store of models: whether its folder can be read and written, what room its
// disk has, which models are there and which of them are broken.

import { dirname, join, resolve } from "node:path";
import { type ModelInfo, ModelStore } from "../../../engine/mod.ts";
import { messageOf } from "../../log.ts";
import type { FreeBytes } from "../../registry/disk_space.ts";
import { formatBytes } from "../terminal/mod.ts";
import type { Finding, Section, Todo } from "./types.ts";

/** A small model takes as much. */
const LITTLE_SPACE = 2e9;

/** The parts that the examination of the store uses. */
export interface StoreTools {
  inspect: (path: string) => Promise<ModelInfo>;
  freeBytes: FreeBytes;
}

/** Looks at the folder, and at the header of each model; at no weights. */
export async function examineStore(
  path: string,
  { inspect, freeBytes }: StoreTools,
): Promise<Section> {
  const folder = resolve(path);
  const broken: { path: string; reason: string }[] = [];
  const onBroken = (path: string, error: unknown) => {
    broken.push({ path, reason: messageOf(error) });
  };
  const { finding, exists, canRead, nearest } = await examineFolder(folder);
  const findings = [finding];
  const facts: Record<string, unknown> = { folder, exists };
  const free = await freeBytes(nearest).catch(() => undefined);
  if (free !== undefined) {
    findings.push(spaceFinding(free));
    facts.freeBytes = free;
  }
  if (canRead || finding.mark === "ok") {
    const store = new ModelStore({ folder, inspect, onBroken });
    const entries = await store.list();
    const bytes = entries.reduce((sum, { size }) => sum + size, 0);
    findings.push(modelsFinding(entries.length, bytes), ...broken.map(brokenFinding));
    Object.assign(facts, { models: entries.length, modelBytes: bytes, broken });
  }
  return { title: "Models", findings, facts };
}

interface FolderState {
  finding: Finding;
  exists: boolean;
  canRead: boolean;
  /** The folder, or the nearest one above it that is there. */
  nearest: string;
}

async function examineFolder(folder: string): Promise<FolderState> {
  const nearest = await nearestFolder(folder);
  const exists = nearest === folder;
  const unreadable = await faultOfReading(nearest);
  const fault = unreadable ?? await faultOfWriting(nearest);
  const state = (finding: Finding) => ({
    finding,
    exists,
    canRead: exists && unreadable === undefined,
    nearest,
  });
  const file = exists ? undefined : await fileInTheWay(folder);
  if (file !== undefined) {
    return state(problem(`${folder}: "${file}" is a file, not a folder`, {
      text: "Name a folder in OLLAMA_MODELS, or leave the variable out.",
    }));
  }
  if (fault === undefined) {
    const text = exists ? folder : `${folder}: not there yet; the first pull makes it`;
    return state({ mark: "ok", subject: "folder", text });
  }
  const what = exists ? "it" : `"${nearest}", in which it would be made,`;
  return state(problem(`${folder}: ${what} cannot be ${fault}`, {
    text: "Give this user the folder, or name another one in OLLAMA_MODELS.",
    ...(Deno.build.os !== "windows" && { command: `sudo chown -R "$USER" "${nearest}"` }),
  }));
}

async function nearestFolder(folder: string): Promise<string> {
  for (let path = folder;; path = dirname(path)) {
    if ((await statOf(path))?.isDirectory || path === dirname(path)) return path;
  }
}

/** The file that stands where a folder would be made, or one above it; undefined if there is none. */
async function fileInTheWay(folder: string): Promise<string | undefined> {
  for (let path = folder; path !== dirname(path); path = dirname(path)) {
    const info = await statOf(path);
    if (info) return info.isDirectory ? undefined : path;
  }
  return undefined;
}

function statOf(path: string): Promise<Deno.FileInfo | undefined> {
  return Deno.stat(path).catch(() => undefined);
}

function problem(text: string, todo: Todo): Finding {
  return { mark: "problem", subject: "folder", text, todo };
}

async function faultOfReading(folder: string): Promise<string | undefined> {
  try {
    await Array.fromAsync(Deno.readDir(folder));
    return undefined;
  } catch (error) {
    return `read: ${messageOf(error)}`;
  }
}

/** Asked by writing: rights, read-only disks and quotas show in no other way on all systems. */
async function faultOfWriting(folder: string): Promise<string | undefined> {
  const path = join(folder, `.quern-doctor-${crypto.randomUUID()}`);
  try {
    await Deno.writeTextFile(path, "", { createNew: true });
    await Deno.remove(path);
    return undefined;
  } catch (error) {
    return `written: ${messageOf(error)}`;
  }
}

function spaceFinding(free: number): Finding {
  const text = `${formatBytes(free)} free`;
  if (free >= LITTLE_SPACE) return { mark: "ok", subject: "disk", text };
  return {
    mark: "warning",
    subject: "disk",
    text: `${text}: most models take more`,
    todo: {
      text: "Make room on the disk, such as by removing a model.",
      command: "quern rm MODEL",
    },
  };
}

function modelsFinding(count: number, bytes: number): Finding {
  if (count > 0) {
    const text = `${count} model${count === 1 ? "" : "s"} of ${formatBytes(bytes)}`;
    return { mark: "ok", subject: "models", text };
  }
  return {
    mark: "ok",
    subject: "models",
    text: "none yet",
    todo: { text: "Get a first model.", command: "quern pull gemma3:1b" },
  };
}

function brokenFinding({ path, reason }: { path: string; reason: string }): Finding {
  return {
    mark: "warning",
    subject: "broken",
    text: `${path}: ${reason}`,
    todo: { text: `Pull or create the model again, or remove ${path}.` },
  };
}
