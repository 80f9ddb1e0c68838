// Mistral's formats, each after [TOOL_CALLS]: a list of {"name", "arguments", "id"} (since 7B
// v0.3), NAME[ARGS]{...} (since Devstral and Magistral), and NAME[CALL_ID]ID[ARGS]{...} (Small
// 3.2), in which each call has its mark. Specified by Mistral's package mistral-common, tokenizers
// v3 to v13.

import { choice, type Grammar, literal, optional, repeat, sequence } from "../../../grammar/mod.ts";
import type { AnswerFamily, CallSyntax, LocatedArguments } from "../types.ts";
import { readArguments, readJsonCalls } from "./json_calls.ts";
import { separated } from "./ordered.ts";
import { argumentsJson } from "./tool_schema.ts";

const OPENING = "[TOOL_CALLS]";

const ARGUMENTS = "[ARGS]";

const CALL_ID = "[CALL_ID]";

/** The text before the arguments outside lists. */
const HEAD = /^\s*([^\s{}[\]"]+)\s*(?:\[CALL_ID\]\s*([^\s[\]]+)\s*)?(?:\[ARGS\]\s*)?(?=\{)/;

/** An id: nine letters and digits. */
const ID = repeat(
  { type: "characters", ranges: [[0x30, 0x39], [0x41, 0x5a], [0x61, 0x7a]] },
  9,
  9,
);

export const MISTRAL: AnswerFamily = {
  name: "mistral",
  recognises: (template) => template.includes(OPENING),
  calls: mistralCalls((tools, { parallel }) => {
    const calls = tools.map((tool) =>
      sequence(
        literal(`{"name": ${JSON.stringify(tool.name)}, "arguments": `),
        argumentsJson(tool),
        optional(sequence(literal(', "id": "'), ID, literal('"'))),
        literal("}"),
      )
    );
    return sequence(
      literal(OPENING),
      optional(literal(" ")),
      literal("["),
      separated(choice(...calls), ", ", parallel),
      literal("]"),
    );
  }),
};

export const MISTRAL_ARGUMENTS: AnswerFamily = {
  name: "mistral",
  recognises: (template) => MISTRAL.recognises(template) && template.includes(ARGUMENTS),
  calls: mistralCalls(markedCalls(literal(ARGUMENTS))),
};

export const MISTRAL_CALL_ID: AnswerFamily = {
  name: "mistral",
  recognises: (template) => MISTRAL.recognises(template) && template.includes(CALL_ID),
  calls: mistralCalls(markedCalls(sequence(literal(CALL_ID), ID, literal(ARGUMENTS)))),
};

/** The parser accepts all three, because some models use another's format. */
function mistralCalls(grammar: CallSyntax["grammar"]): CallSyntax {
  return {
    openings: [OPENING],
    read(body) {
      const located = locate(body);
      if (!located) return readJsonCalls(body);
      const { arguments: start, ...call } = located;
      const members = readArguments(body.slice(start));
      return members && [{ ...call, arguments: members }];
    },
    locate,
    grammar,
  };
}

function locate(body: string): LocatedArguments | undefined {
  const [head, name, id] = HEAD.exec(body) ?? [];
  if (head === undefined || name === undefined) return undefined;
  return { name, arguments: head.length, ...id !== undefined && { id } };
}

function markedCalls(beforeArguments: Grammar): CallSyntax["grammar"] {
  return (tools, { parallel }) => {
    const calls = tools.map((tool) =>
      sequence(literal(OPENING + tool.name), beforeArguments, argumentsJson(tool))
    );
    return separated(choice(...calls), "", parallel);
  };
}
