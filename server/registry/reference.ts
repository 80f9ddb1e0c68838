// Where a model lives: its name as the addresses of its registry. The protocol is that of Docker's
// registry, version 2 (the "distribution" specification); https unless the user allows otherwise.

import { ModelName } from "../../engine/mod.ts";
import { RegistryError } from "./errors.ts";

const SCHEME = /^(https?):\/\//i;

/** A model in a registry. */
export class RegistryReference {
  /** The name, without a scheme. */
  readonly name: ModelName;
  /** Scheme, host and port. */
  readonly origin: URL;

  /**
   * Reads `[scheme://]host/namespace/model:tag`, of which all but the model may be missing.
   *
   * @param insecure whether http is allowed, which is then the default
   * @throws {StoreError} if it is no name
   * @throws {RegistryError} if the name says http and that is not allowed, or its host is none
   */
  constructor(text: string, readonly insecure: boolean) {
    const scheme = SCHEME.exec(text)?.[1]?.toLowerCase() ?? (insecure ? "http" : "https");
    this.name = ModelName.parse(text.replace(SCHEME, ""));
    if (scheme === "http" && !insecure) {
      throw new RegistryError(
        `Cannot reach ${this.name.host}: insecure protocol http; write https:// or nothing, ` +
          `or allow http with "insecure": true (--insecure on the command line)`,
      );
    }
    const origin = URL.parse(`${scheme}://${this.name.host}`);
    if (!origin) throw new RegistryError(`Cannot reach "${this.name.host}": it is no host`);
    this.origin = origin;
  }

  /** The address of the manifest. */
  get manifestUrl(): URL {
    return this.#url(`manifests/${this.name.tag}`);
  }

  /** The address of a blob. @param digest like "sha256:…" */
  blobUrl(digest: string): URL {
    return this.#url(`blobs/${digest}`);
  }

  /** The address that begins an upload. */
  get uploadsUrl(): URL {
    return this.#url("blobs/uploads/");
  }

  /** The path of the model in its registry. */
  get repository(): string {
    return `${this.name.namespace}/${this.name.model}`;
  }

  #url(path: string): URL {
    return new URL(`/v2/${this.repository}/${path}`, this.origin);
  }
}
