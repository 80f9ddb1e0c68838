// The grammar of answers that consist of messages with headers: any number of messages of thinking
// and text before calls, then the answer, or calls.

import {
  choice,
  type Grammar,
  json,
  literal,
  repeat,
  sequence,
  textWithout,
} from "../../../grammar/mod.ts";
import type { AnswerRequest, CallableTool } from "../types.ts";
import { begunMessage, type MessageSyntax } from "./message_syntax.ts";

/** The grammar of what follows the prompt. */
export function messageGrammar(syntax: MessageSyntax, request: AnswerRequest): Grammar {
  const { headers, next } = syntax;
  const text = textWithout(syntax.start, ...syntax.ends);
  const answer = request.schema === undefined ? text : json(request.schema);
  const calls = request.choice === "none" ? [] : callGrammars(syntax, request);
  const notes = calls.length > 0 ? headers.note : [];
  const before = [...headers.thinking, ...notes]
    .map((header) => sequence(message(syntax, header, text), literal(next)));
  const messages = sequence(
    before.length > 0 ? repeat(choice(...before)) : sequence(),
    choice(
      ...calls,
      ...request.choice === "required"
        ? []
        : headers.text.map((header) => message(syntax, header, answer)),
    ),
  );
  const { header, isBody } = begunMessage(syntax, request.prompt);
  if (!isBody) return messages;
  const isThinking = syntax.kindOf(header, request.tools)?.type === "thinking";
  return isThinking ? sequence(text, literal(next), messages) : answer;
}

/** The grammars of one call, or of several if the family has parallel calls. */
function callGrammars(syntax: MessageSyntax, { tools, parallel }: AnswerRequest): Grammar[] {
  const call = (tool: CallableTool) =>
    syntax.headers.call(tool.name).map((header) => message(syntax, header, syntax.body(tool)));
  const one = tools.flatMap(call);
  if (one.length === 0 || !parallel || syntax.nextCall === undefined) return one;
  const calls = choice(...one);
  return [sequence(calls, repeat(sequence(literal(syntax.nextCall), calls)))];
}

function message(syntax: MessageSyntax, header: string, body: Grammar): Grammar {
  return sequence(literal(header + syntax.begin), body);
}
