// The digests of large files, kept so that each content is read for its digest once: a small file for
// each, named by what the file system tells of the large one. What cannot be read or written here is
// computed again.

import { fileSystem, join, sha256 } from "../../host/mod.ts";

/** Most digests that are kept; the oldest go first. */
const MOST_KEPT = 1000;

const DIGEST = /^[0-9a-f]{64}$/;

/** Kept digests of a folder, by the stamps of files. */
export class DigestFiles {
  readonly #folder: string;

  /** @param folder is created if it is missing */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The digest of the file with this stamp, in hex. */
  async get(stamp: string): Promise<string | undefined> {
    const text = await fileSystem().readTextFile(this.#pathOf(stamp)).catch(() => "");
    const [digest, own] = text.split("\n");
    return own === stamp && DIGEST.test(digest!) ? digest : undefined;
  }

  /** Keeps a digest. */
  async put(stamp: string, digest: string): Promise<void> {
    const path = this.#pathOf(stamp);
    const part = `${path}.${crypto.randomUUID()}.part`;
    try {
      await fileSystem().mkdir(this.#folder, { recursive: true });
      await fileSystem().writeTextFile(part, `${digest}\n${stamp}`);
      await fileSystem().rename(part, path);
      await this.#trim();
    } catch {
      await fileSystem().remove(part).catch(() => {});
    }
  }

  async #trim(): Promise<void> {
    const names = (await Array.fromAsync(fileSystem().readDir(this.#folder))).map(({ name }) =>
      name
    );
    if (names.length <= MOST_KEPT) return;
    const timed = await Promise.all(names.map(async (name) => {
      const facts = await fileSystem().stat(join(this.#folder, name)).catch(() => undefined);
      return { name, time: facts?.mtime?.getTime() ?? 0 };
    }));
    timed.sort((a, b) => a.time - b.time);
    for (const { name } of timed.slice(0, names.length - MOST_KEPT)) {
      await fileSystem().remove(join(this.#folder, name)).catch(() => {});
    }
  }

  #pathOf(stamp: string): string {
    return join(this.#folder, sha256().update(stamp).digest("hex").slice(0, 32));
  }
}
