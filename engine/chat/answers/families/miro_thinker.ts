// MiroThinker: a tool of a server of the Model Context Protocol, named in tags, with JSON
// arguments. The server's name does not matter to the caller.

import { choice, literal, sequence, textWithout } from "../../../grammar/mod.ts";
import type { AnswerFamily, ReadCall } from "../types.ts";
import { readArguments } from "./json_calls.ts";
import { separated } from "./ordered.ts";
import { argumentsJson } from "./tool_schema.ts";

const CALL = /^([^<]+)<\/tool_name>\s*<arguments>([^]*)<\/arguments>/;

export const MIRO_THINKER: AnswerFamily = {
  name: "miro-thinker",
  recognises: (template) => template.includes("<use_mcp_tool>"),
  calls: {
    openings: ["<use_mcp_tool>"],
    closing: "</use_mcp_tool>",
    read(body) {
      const calls = body.split("<tool_name>").slice(1).map(readCall);
      const isWhole = calls.length > 0 && calls.every((call) => call !== undefined);
      return isWhole ? calls : undefined;
    },
    grammar(tools, { parallel }) {
      const call = choice(...tools.map((tool) =>
        sequence(
          literal("<server_name>"),
          textWithout("<", "\n"),
          literal(`</server_name>\n<tool_name>${tool.name}</tool_name>\n<arguments>\n`),
          argumentsJson(tool),
          literal("\n</arguments>\n"),
        )
      ));
      const open = literal("<use_mcp_tool>\n");
      return sequence(open, separated(call, "", parallel), literal("</use_mcp_tool>"));
    },
  },
};

function readCall(text: string): ReadCall | undefined {
  const [, name = "", body] = CALL.exec(text) ?? [];
  const members = body === undefined ? undefined : readArguments(body);
  return members && { name: name.trim(), arguments: members };
}
