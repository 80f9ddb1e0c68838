// A parsed Go template: the fields that it reads, and what it prints. It knows no conversations.
// Defined by Go's package text/template and by Ollama's use of it.

import { plain, RenderBudget, type Text } from "../../tokenizer/mod.ts";
import { GoTemplateError, refusingLimits } from "./errors.ts";
import { createFunctions } from "./functions.ts";
import { runGoTemplate } from "./interpreter.ts";
import { parseGoTemplate } from "./parser.ts";
import { type Node, type Pipeline, type Tree, visitFields, visitPipelines } from "./syntax.ts";
import type { GoValue } from "./values.ts";

/** The values given to a template. */
export type GoTemplateValues = Readonly<Record<string, GoValue>>;

/** A parsed Go template. */
export interface GoTemplate {
  /** Names of all fields that the template and those defined in it read, such as "Messages". */
  readonly fields: ReadonlySet<string>;
  /** The text of the whole template. Errors: GoTemplateError. */
  render(values: GoTemplateValues): string;
  /** The text of the whole template, with its parts that are data marked as in the values. */
  renderText(values: GoTemplateValues): Text;
  /** The text up to the place of the answer, `.Response`. Errors: GoTemplateError. */
  renderPrompt(values: GoTemplateValues): Text;
}

export interface GoTemplateOptions {
  /** The clock of currentDate. Default: the current time. */
  clock?: () => Date;
}

const RESPONSE: Node = {
  kind: "action",
  pipeline: {
    variables: [],
    isAssignment: false,
    commands: [{
      operands: [{ kind: "fields", of: { kind: "dot" }, names: ["Response"] }],
      line: 1,
    }],
    line: 1,
  },
};

/**
 * Longest source. Templates of models have up to some 20,000 units; parsing this many takes some 50
 * ms.
 */
const MAXIMUM_LENGTH = 1 << 16;

/**
 * Parses a template of Ollama. If it uses neither messages nor the answer, the answer is added at
 * its end. Errors: GoTemplateError.
 */
export function createGoTemplate(source: string, options: GoTemplateOptions = {}): GoTemplate {
  if (source.length > MAXIMUM_LENGTH) {
    const state = `it has ${source.length} characters, at most ${MAXIMUM_LENGTH} are allowed`;
    throw new GoTemplateError(state, 1);
  }
  return refusingLimits(() => parse(source, options));
}

function parse(source: string, options: GoTemplateOptions): GoTemplate {
  const functions = createFunctions(options.clock ?? (() => new Date()));
  const parsed = parseGoTemplate(source);
  const fields = collectFields(parsed);
  const hasPlace = fields.has("Messages") || fields.has("Response");
  const tree = hasPlace ? parsed : { ...parsed, body: [...parsed.body, RESPONSE] };
  const promptTree = { ...tree, body: beforeResponse(tree.body).nodes };
  return {
    fields,
    render(values) {
      return plain(new RenderBudget().run(() => this.renderText(values)));
    },
    renderText: (values) => runGoTemplate(tree, functions, new Map(Object.entries(values))),
    renderPrompt: (values) => runGoTemplate(promptTree, functions, new Map(Object.entries(values))),
  };
}

function collectFields({ body, definitions }: Tree): ReadonlySet<string> {
  const names = new Set<string>();
  for (const nodes of [body, ...definitions.values()]) {
    visitPipelines(nodes, (pipeline) => visitFields(pipeline, (name) => names.add(name)));
  }
  return names;
}

/** The nodes before the first action that prints the answer, in the order of the source. */
function beforeResponse(nodes: readonly Node[]): { nodes: Node[]; isCut: boolean } {
  const kept: Node[] = [];
  for (const node of nodes) {
    if (node.kind === "action" && asksForResponse(node.pipeline)) {
      return { nodes: [...kept, node], isCut: true };
    }
    if (node.kind !== "if" && node.kind !== "with" && node.kind !== "range") {
      kept.push(node);
      continue;
    }
    const body = beforeResponse(node.body);
    const otherwise = body.isCut ? { nodes: [], isCut: true } : beforeResponse(node.otherwise);
    kept.push({ ...node, body: body.nodes, otherwise: otherwise.nodes });
    if (otherwise.isCut) return { nodes: kept, isCut: true };
  }
  return { nodes: kept, isCut: false };
}

/** Whether the pipeline contains `.Response`; `$.Response` does not count. */
function asksForResponse({ commands }: Pipeline): boolean {
  return commands.some(({ operands }) =>
    operands.some((operand) =>
      operand.kind === "pipeline"
        ? asksForResponse(operand.pipeline)
        : operand.kind === "fields" && operand.of.kind === "dot" &&
          operand.names.includes("Response")
    )
  );
}
