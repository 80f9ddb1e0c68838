// Which session of a program a request belongs to, and how it stands to the session's main conversation:
// coding agents say so in headers, each in its own, and some in the body. Requests that nobody waits for
// run in the background; subagents, compactions and what else stands beside the main conversation wait
// for it, and leave its cache alone (engine/run). Pure.

import type { LimitOptions } from "../../../engine/mod.ts";

/** Headers with the id of a session: Claude Code, Qwen Code, OpenCode, Codex, and what others took over. */
const SESSION = [
  "x-claude-code-session-id",
  "x-qwen-code-session-id",
  "x-opencode-session",
  "session-id",
  "session_id",
  "x-session-id",
  "x-session-affinity",
];

/** Headers by which a subagent tells the session that it works for: OpenCode and Codex. */
const PARENT = ["x-parent-session-id", "x-codex-parent-thread-id"];

/** Headers that only subagents send: Claude Code and Codex. */
const SUBAGENT = ["x-claude-code-agent-id", "x-openai-subagent"];

/** How requests of Claude Code's classes stand; it sends them to some servers only. */
const CLASSES: Record<string, "main" | "beside" | "background"> = {
  main: "main",
  subagent: "beside",
  workflow: "beside",
  compaction: "beside",
  side_reply: "beside",
  auxiliary: "background",
};

/** What is known of a request besides its headers. */
export interface Told {
  /** The session that its body names. */
  session?: string | undefined;
  /** Whether it offers tools. */
  hasTools: boolean;
}

/** How a request stands to others. @param header gives a header by its name */
export function standingOf(
  header: (name: string) => string | undefined,
  { session, hasTools }: Told,
): Pick<LimitOptions, "background" | "session"> {
  const first = (names: readonly string[]) => names.map(header).find((value) => value);
  const parent = first(PARENT);
  const told = first(SESSION);
  const thread = header("thread-id");
  const id = parent ?? told ?? session;
  const kind = CLASSES[header("x-claude-code-request-class") ?? ""];
  if (kind === "background") return { background: true };
  if (id === undefined) return {};
  const isOther = parent !== undefined || first(SUBAGENT) !== undefined ||
    thread !== undefined && told !== undefined && thread !== told;
  // An agent's conversation always has tools. Without them it asks for a title or the like.
  const isBeside = kind === undefined
    ? isOther || told !== undefined && !hasTools
    : kind !== "main";
  return { session: { id, ...(isBeside && { isBeside }) } };
}

/** The session in `metadata.user_id` of Anthropic's API, as versions of Claude Code write it there. */
export function sessionOfUser(user: unknown): string | undefined {
  if (typeof user !== "string") return undefined;
  const [, written] = /_session_([\w-]+)$/.exec(user) ?? /"session_id":\s*"([\w-]+)"/.exec(user) ??
    [];
  return written;
}
