// How the page asks the server: plain fetch on the routes that everybody has, with the key of the
// session where the server wants one. Answers that are streamed come as lines of JSON.

import { signal } from "@preact/signals";
import { parseExact, writeExact } from "./exact_json.ts";

const KEY = "quern-api-key";

/** Whether the server has refused the page for want of a key. */
export const isKeyWanted = signal(false);

/** What the server said of a request that it did not do. */
export class ApiError extends Error {
  override readonly name = "ApiError";

  constructor(readonly status: number, message: string) {
    super(message);
  }
}

/** How a request is sent. */
export interface RequestOptions {
  method?: string;
  /** Sent as JSON; bytes and forms as they are. */
  body?: unknown;
  signal?: AbortSignal | undefined;
  headers?: Record<string, string>;
}

/** Keeps the key until the tab is closed. */
export function rememberKey(key: string): void {
  sessionStorage.setItem(KEY, key);
  isKeyWanted.value = false;
}

/** The key of this session; empty for none. */
export function currentKey(): string {
  return sessionStorage.getItem(KEY) ?? "";
}

/** Sends a request. @throws ApiError where the server refuses it */
export async function send(path: string, options: RequestOptions = {}): Promise<Response> {
  const { body, signal } = options;
  const key = currentKey();
  const headers: Record<string, string> = { accept: "application/json", ...options.headers };
  if (key) headers.authorization = `Bearer ${key}`;
  const isRaw = body instanceof Blob || body instanceof Uint8Array ||
    body instanceof FormData;
  if (body !== undefined && !isRaw) headers["content-type"] = "application/json";
  const response = await fetch(path, {
    method: options.method ?? (body === undefined ? "GET" : "POST"),
    headers,
    ...(body !== undefined && { body: isRaw ? body as Blob | FormData : writeExact(body) }),
    ...(signal && { signal }),
  });
  if (response.status === 401) isKeyWanted.value = true;
  if (!response.ok) throw new ApiError(response.status, await reasonOf(response));
  return response;
}

/** The JSON of an answer. @throws ApiError */
export async function ask<T>(path: string, options?: RequestOptions): Promise<T> {
  const response = await send(path, options);
  const text = await response.text();
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

/** The lines of a streamed answer. @throws ApiError, also for a stream that fails on its way */
export async function* stream<T extends object>(
  path: string,
  options: RequestOptions,
): AsyncGenerator<T, void> {
  const response = await send(path, options);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const lines = (rest + (value ?? "")).split("\n");
      rest = done ? "" : lines.pop()!;
      for (const line of lines) {
        if (line.trim() === "") continue;
        // Calls of tools are shown and sent back as they came.
        const read = line.includes('"tool_calls"') ? parseExact(line) : JSON.parse(line);
        const record = read as T | { error: string };
        if ("error" in record && typeof record.error === "string") {
          throw new ApiError(response.status, record.error);
        }
        yield record as Awaited<T>;
      }
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

async function reasonOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const { error } = JSON.parse(text);
    return typeof error === "string" ? error : error.message;
  } catch {
    return text || `HTTP ${response.status}`;
  }
}

/** What to tell of something that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether somebody called it off. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
