// The files that a browser keeps for the library: a folder of the site's private file system, where whole
// files are named by their SHA-256, and those of which a part is missing by their address. A note beside
// them says which address had which file. It knows nothing of how files are fetched.

import {
  alone,
  freeOriginBytes,
  type OriginFile,
  type OriginFolder,
  originFolder,
  sha256,
} from "../../host/mod.ts";

const FOLDER = "quern-models";
const WHOLE = /^sha256-([0-9a-f]{64})$/;

/** What is known of the file at an address. */
export interface FileNote {
  readonly url: string;
  /** What the server says of this version: the header `etag`. Missing: it says nothing. */
  readonly etag?: string;
  readonly size: number;
  /** SHA-256 in hex; missing while a part of the file is. */
  readonly sha256?: string;
}

/** A whole file that a browser keeps. */
export interface KeptFile {
  /** Its SHA-256 in hex. */
  readonly sha256: string;
  /** Bytes. */
  readonly size: number;
}

/** The kept files of a site. */
export class OriginStore {
  readonly #folder: OriginFolder;

  private constructor(folder: OriginFolder) {
    this.#folder = folder;
  }

  /** Undefined where nothing can be kept: outside of browsers' workers. */
  static async open(): Promise<OriginStore | undefined> {
    const folder = await originFolder(FOLDER);
    return folder && new OriginStore(folder);
  }

  /** A whole file; undefined if it is not here. */
  async whole(digest: string): Promise<Blob | undefined> {
    const file = await this.#handle(`sha256-${digest}`);
    return await file?.getFile();
  }

  /** All whole files. */
  async list(): Promise<KeptFile[]> {
    const files: KeptFile[] = [];
    for await (const handle of this.#folder.values()) {
      const digest = WHOLE.exec(handle.name)?.[1];
      if (digest) files.push({ sha256: digest, size: (await handle.getFile()).size });
    }
    return files;
  }

  /** Removes a whole file, if it is here. */
  async remove(digest: string): Promise<void> {
    await this.#remove(`sha256-${digest}`);
  }

  /** What was noted of an address. */
  async note(url: string): Promise<FileNote | undefined> {
    const blob = await (await this.#handle(`note-${keyOf(url)}`))?.getFile();
    try {
      return blob && JSON.parse(await blob.text());
    } catch {
      return undefined; // It was not written to its end.
    }
  }

  /** Notes what is known of an address. */
  async setNote(note: FileNote): Promise<void> {
    const handle = await this.#folder.getFileHandle(`note-${keyOf(note.url)}`, { create: true });
    const file = await handle.createSyncAccessHandle();
    try {
      const bytes = new TextEncoder().encode(JSON.stringify(note));
      file.truncate(0);
      file.write(bytes, { at: 0 });
    } finally {
      file.close();
    }
  }

  /** Does something with the file of an address of which a part is missing, which no other tab has meanwhile. */
  async withPart<Result>(
    url: string,
    work: (file: OriginFile) => Promise<Result>,
  ): Promise<Result> {
    const handle = await this.#folder.getFileHandle(partName(url), { create: true });
    const file = await handle.createSyncAccessHandle();
    try {
      return await work(file);
    } finally {
      file.close();
    }
  }

  /** Keeps the part of an address as a whole file. */
  async complete(url: string, digest: string): Promise<Blob> {
    const name = `sha256-${digest}`;
    const part = await this.#folder.getFileHandle(partName(url));
    await this.#remove(name);
    if (part.move) await part.move(name);
    else await this.#copy(await part.getFile(), name);
    await this.#remove(partName(url));
    return (await this.whole(digest))!;
  }

  /** Drops what is here of the file of an address. */
  async dropPart(url: string): Promise<void> {
    await this.#remove(partName(url));
  }

  /** Bytes that may still be kept. */
  free(): Promise<number> {
    return freeOriginBytes();
  }

  /** Does something about an address that no other tab does at the same time. */
  alone<Result>(url: string, work: () => Promise<Result>): Promise<Result> {
    return alone(`${FOLDER}/${url}`, work);
  }

  async #copy(from: Blob, name: string): Promise<void> {
    const handle = await this.#folder.getFileHandle(name, { create: true });
    const file = await handle.createSyncAccessHandle();
    try {
      let at = 0;
      for await (const bytes of from.stream()) at += file.write(bytes, { at });
    } finally {
      file.close();
    }
  }

  async #handle(name: string) {
    try {
      return await this.#folder.getFileHandle(name);
    } catch {
      return undefined;
    }
  }

  async #remove(name: string): Promise<void> {
    await this.#folder.removeEntry(name).catch(() => {});
  }
}

function partName(url: string): string {
  return `part-${keyOf(url)}`;
}

function keyOf(url: string): string {
  return sha256().update(url).digest("hex");
}

/** The files that the browser keeps for this site; none where it keeps nothing. Only in a worker. */
export async function listKeptFiles(): Promise<KeptFile[]> {
  return await (await OriginStore.open())?.list() ?? [];
}

/** Removes a file that the browser keeps for this site. Only in a worker. @param digest SHA-256 in hex */
export async function removeKeptFile(digest: string): Promise<void> {
  await (await OriginStore.open())?.remove(digest);
}
