// A request as Claude Code sends it, in shape and not in words: system blocks with a line that changes
// every time, an instruction among the messages, adaptive thinking, effort, context management, and
// 24 tools whose schemas use what its schemas use.

const DRAFT = "https://json-schema.org/draft/2020-12/schema";
const ephemeral = { type: "ephemeral" };

/** Headers that come with it. */
export const CLAUDE_CODE_HEADERS = {
  authorization: "Bearer x",
  "content-type": "application/json",
  "anthropic-version": "2023-06-01",
  "anthropic-beta": "claude-code-20250219,interleaved-thinking-2025-05-14,effort-2025-11-24",
  "anthropic-dangerous-direct-browser-access": "true",
  "x-app": "cli",
  "x-stainless-lang": "js",
  "x-stainless-retry-count": "0",
};

/** The tools: name, what it does, and the properties of its input, of which the first is required. */
const TOOLS: [name: string, description: string, properties: Record<string, object>][] = [
  ["Agent", "Gives a task to a helper", {
    prompt: { type: "string" },
    model: { type: "string", enum: ["small", "large"] },
    run_in_background: { type: "boolean", default: false },
  }],
  ["Ask", "Asks the user", {
    questions: {
      type: "array",
      minItems: 1,
      maxItems: 4,
      items: {
        type: "object",
        properties: { question: { type: "string" }, multiple: { type: "boolean", default: false } },
        required: ["question"],
        additionalProperties: false,
      },
    },
    answers: {
      type: "object",
      propertyNames: { type: "string" },
      additionalProperties: { type: "string" },
    },
  }],
  ["Shell", "Runs a command", {
    command: { type: "string" },
    timeout: { type: "number", minimum: 0, maximum: 600000 },
    description: { type: "string", maxLength: 65536 },
  }],
  ["ShellOutput", "Reads what a command wrote", {
    id: { type: "string" },
    filter: { type: "string" },
    wait: { type: "integer", exclusiveMinimum: 0 },
  }],
  ["KillShell", "Ends a command", { id: { type: "string" } }],
  ["Edit", "Replaces text in a file", {
    path: { type: "string" },
    old: { type: "string" },
    new: { type: "string" },
    all: { type: "boolean", default: false },
  }],
  ["Glob", "Finds files by name", { pattern: { type: "string" }, folder: { type: "string" } }],
  ["Grep", "Finds text in files", {
    pattern: { type: "string" },
    mode: { type: "string", enum: ["content", "files", "count"] },
    "-A": { type: "number" },
    limit: { type: "integer", minimum: 0, default: 250 },
  }],
  ["Read", "Reads a file", {
    path: { type: "string" },
    offset: { type: "integer", minimum: 0, maximum: 9007199254740991 },
    limit: { type: "integer", exclusiveMinimum: 0, maximum: 9007199254740991 },
  }],
  ["Write", "Writes a file", { path: { type: "string" }, content: { type: "string" } }],
  ["NotebookEdit", "Changes a cell", {
    path: { type: "string" },
    source: { type: "string" },
    kind: { type: "string", enum: ["code", "markdown"] },
  }],
  ["Fetch", "Reads a page", { url: { type: "string", format: "uri" }, prompt: { type: "string" } }],
  ["Search", "Searches the web", {
    query: { type: "string", minLength: 2 },
    domains: { type: "array", items: { type: "string" } },
  }],
  ["Todo", "Keeps a list", {
    todos: {
      type: "array",
      items: {
        type: "object",
        properties: {
          content: { type: "string", minLength: 1 },
          status: { type: "string", enum: ["pending", "in_progress", "completed"] },
        },
        required: ["content", "status"],
        additionalProperties: false,
      },
    },
  }],
  ["Workflow", "Looks after a workflow", { id: { type: "string", pattern: "^wf_[a-z0-9-]{6,}$" } }],
  ["Artifact", "Publishes files", {
    files: {
      type: "array",
      maxItems: 50,
      items: { type: "string", pattern: "^(?!\\.\\.?(?:\\/|$))[A-Za-z0-9_\\-.~:@+]{1,200}$" },
    },
  }],
  ["EnterPlan", "Begins to plan", {}],
  ["LeavePlan", "Ends planning", { plan: { type: "string" } }],
  ["EnterWorktree", "Goes into a worktree", { name: { type: "string", maxLength: 64 } }],
  ["LeaveWorktree", "Leaves it", { action: { type: "string", enum: ["keep", "remove"] } }],
  ["Schedule", "Plans a run", {
    cron: { type: "string" },
    recurring: { type: "boolean", default: true },
  }],
  ["ScheduleList", "Lists planned runs", {}],
  ["ScheduleDelete", "Forgets a run", { id: { type: "string" } }],
  ["Skill", "Uses a skill", { name: { type: "string" }, args: { type: "string" } }],
];

/** The text of the instruction among the messages. */
export const INSTRUCTION = "Agents for the Agent tool: explorer, planner.";

/** The body. @param turn changes the line that changes with every request */
export function claudeCodeRequest(model: string, turn = 1) {
  return {
    model,
    max_tokens: 32000,
    stream: true,
    system: [
      { type: "text", text: `x-anthropic-billing-header: cc_version=2.1.${turn}; cch=${turn}f3a;` },
      { type: "text", text: "You help with code.", cache_control: ephemeral },
      { type: "text", text: "\nBe brief. Use the tools.", cache_control: ephemeral },
    ],
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "<system-reminder>\nToday is Saturday.\n</system-reminder>\n" },
          { type: "text", text: "Say hi", cache_control: ephemeral },
        ],
      },
      { role: "system", content: INSTRUCTION },
    ],
    thinking: { type: "adaptive" },
    output_config: { effort: "high" },
    context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
    metadata: { user_id: JSON.stringify({ device_id: "d", session_id: "s" }) },
    tools: TOOLS.map(([name, description, properties]) => ({
      name,
      description,
      input_schema: {
        $schema: DRAFT,
        type: "object",
        properties,
        required: Object.keys(properties).slice(0, 1),
        additionalProperties: false,
      },
    })),
  };
}
