// What a model's cache holds, by conversation. Plain data that postMessage can send.

import type { CacheReport } from "./events.ts";
import type { RequestSession } from "./requests.ts";

/** How much of a text is kept, and where, in tokens. Only whole blocks of it are. */
export interface KeptTokens {
  /** On the device. */
  onDevice: number;
  /** In the system's memory: copies of what the device has or had. */
  inMemory: number;
  /** On disk, likewise. */
  onDisk: number;
  /** How many from its beginning a prompt that goes on from it need not read again. */
  reusable: number;
}

/** A conversation that a model has answered lately. */
export interface CachedConversation {
  /** The beginning of what its user wrote first, or of its text. */
  title: string;
  /** On whose behalf it was asked: the id of the request's `share`. Missing: nobody's in particular. */
  owner?: string;
  /** The session that its program named; missing: none. */
  session?: RequestSession;
  /** Requests so far. */
  requests: number;
  /** When the last of them ended, in milliseconds since 1970. */
  lastUsed: number;
  /** Tokens of its last prompt and answer. */
  tokens: number;
  /** How much of it is kept, and where. */
  kept: KeptTokens;
  /** What its last prompt found. */
  lastPrompt: CacheReport;
}

/** What the cache of a model holds. */
export interface CacheState {
  /** Tokens of a block: only whole ones are kept. */
  blockTokens: number;
  /** The latest first. */
  conversations: CachedConversation[];
}
