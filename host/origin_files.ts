// The files that a browser keeps for a site (the origin private file system), and reading files that a
// page has at hand without waiting. Standard: https://fs.spec.whatwg.org, https://w3c.github.io/FileAPI

/** An open file of a site, which no other tab can open meanwhile. */
export interface OriginFile {
  read(target: Uint8Array, options: { at: number }): number;
  write(bytes: Uint8Array, options: { at: number }): number;
  getSize(): number;
  truncate(size: number): void;
  flush(): void;
  close(): void;
}

/** A file of a site by its name. */
export interface OriginHandle {
  readonly name: string;
  readonly kind: "file" | "directory";
  /** What is in it, on disk: it is read when it is looked at. */
  getFile(): Promise<Blob>;
  createSyncAccessHandle(): Promise<OriginFile>;
  /** Gives it another name. Missing in browsers from before 2023. */
  move?(name: string): Promise<void>;
}

/** A folder of a site. */
export interface OriginFolder {
  getFileHandle(name: string, options?: { create: boolean }): Promise<OriginHandle>;
  removeEntry(name: string): Promise<void>;
  values(): AsyncIterable<OriginHandle>;
}

interface StorageNavigator {
  readonly storage?: {
    getDirectory?(): Promise<
      { getDirectoryHandle(name: string, options: { create: boolean }): Promise<OriginFolder> }
    >;
    estimate?(): Promise<{ quota?: number; usage?: number }>;
  };
  readonly locks?: { request<Result>(name: string, work: () => Promise<Result>): Promise<Result> };
}

const browser = (): StorageNavigator => globalThis.navigator as unknown as StorageNavigator ?? {};

/**
 * A folder of this site; undefined where there is none that this thread can write: outside of browsers, in
 * private windows of some, and on a page's own thread.
 */
export async function originFolder(name: string): Promise<OriginFolder | undefined> {
  if (!("FileSystemSyncAccessHandle" in globalThis) || !readsBlobs()) return undefined;
  try {
    const root = await browser().storage?.getDirectory?.();
    return await root?.getDirectoryHandle(name, { create: true });
  } catch {
    return undefined; // Some browsers refuse in private windows.
  }
}

/** Bytes that this site may still keep; infinite where that is not known. */
export async function freeOriginBytes(): Promise<number> {
  const { quota, usage } = await browser().storage?.estimate?.() ?? {};
  return quota === undefined ? Infinity : quota - (usage ?? 0);
}

/** Does something that no other tab or thread of this site does at the same time under this name. */
export async function alone<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const { locks } = browser();
  return locks ? await locks.request(name, work) : await work();
}

interface SyncReader {
  new (): { readAsArrayBuffer(blob: Blob): ArrayBuffer };
}

const syncReader = () => (globalThis as { FileReaderSync?: SyncReader }).FileReaderSync;

/** Whether this thread can read what is in a blob without waiting: in browsers, workers can. */
export function readsBlobs(): boolean {
  return syncReader() !== undefined;
}

/** The bytes of a blob from one offset up to another. Only where {@linkcode readsBlobs}. */
export function readBlob(blob: Blob, start: number, end: number): Uint8Array {
  const Reader = syncReader()!;
  return new Uint8Array(new Reader().readAsArrayBuffer(blob.slice(start, end)));
}
