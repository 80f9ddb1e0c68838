// The receiving side of a registry, played in memory behind `fetch`: upload sessions whose answers
// a test can change.

import { digestOf } from "./fixtures.ts";

/** A request as it came. */
export interface UploadRequest {
  method: string;
  url: URL;
  headers: Headers;
  body: Uint8Array<ArrayBuffer>;
}

/** Changes the answer to a request, given the proper one; undefined leaves it. */
export type UploadFault = (request: UploadRequest, index: number) => Response | undefined;

/** Sessions, blobs and manifests in memory. */
export class UploadRegistry {
  readonly blobs = new Map<string, Uint8Array>();
  readonly manifests = new Map<string, Uint8Array>();
  readonly requests: UploadRequest[] = [];
  /** Locations of sessions: as a path, or with a host. */
  locationPrefix = "";
  fault: UploadFault = () => undefined;
  readonly #sessions = new Map<string, Uint8Array<ArrayBuffer>>();

  /** Stands in for the global `fetch`. */
  readonly fetch: typeof fetch = async (input, init) => {
    const request = {
      method: init?.method ?? "GET",
      url: new URL(String(input)),
      headers: new Headers(init?.headers),
      body: new Uint8Array(await new Response(init?.body ?? null).arrayBuffer()),
    };
    this.requests.push(request);
    return this.fault(request, this.requests.length - 1) ?? this.#answer(request);
  };

  /** Requests with that method. */
  count(method: string): number {
    return this.requests.filter((request) => request.method === method).length;
  }

  /** Forgets all sessions, as a restart does. */
  forgetSessions(): void {
    this.#sessions.clear();
  }

  #answer({ method, url, headers, body }: UploadRequest): Response {
    const last = url.pathname.split("/").at(-1)!;
    if (url.pathname.includes("/manifests/")) {
      this.manifests.set(url.pathname, body);
      return new Response(null, { status: 201 });
    }
    if (method === "HEAD") return new Response(null, { status: this.blobs.has(last) ? 200 : 404 });
    if (method === "POST") {
      const session = crypto.randomUUID();
      this.#sessions.set(session, new Uint8Array());
      return this.#session(session, 202);
    }
    const received = this.#sessions.get(last);
    if (!received) {
      return Response.json({ errors: [{ message: "upload unknown" }] }, { status: 404 });
    }
    if (method === "GET") return this.#session(last, 204);
    const [start] = headers.get("content-range")?.split("-") ?? [];
    if (method === "PATCH") {
      if (Number(start) !== received.length) return new Response(null, { status: 416 });
      this.#sessions.set(last, new Uint8Array([...received, ...body]));
      return this.#session(last, 202);
    }
    const digest = url.searchParams.get("digest")!;
    if (digestOf(received) !== digest) return new Response("digest invalid", { status: 400 });
    this.blobs.set(digest, received);
    return new Response(null, { status: 201 });
  }

  #session(id: string, status: number): Response {
    const end = Math.max(0, this.#sessions.get(id)!.length - 1);
    const location = `${this.locationPrefix}/v2/library/sample/blobs/uploads/${id}?_state=x`;
    return new Response(null, { status, headers: { location, range: `0-${end}` } });
  }
}
