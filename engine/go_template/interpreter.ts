// Runs a Go template over a value. Steps, depth and output are bounded, for any model file may
// hold any template. Fixed by Go's package text/template, with missing keys of maps nil.

import { GoTemplateError } from "./errors.ts";
import { printValue } from "./format.ts";
import type { GoFunction } from "./functions.ts";
import type { Branch, Command, Node, Operand, Pipeline, Tree } from "./syntax.ts";
import { bare, Float64, type GoValue, isTrue, Struct } from "./values.ts";

const MAXIMUM_STEPS = 2_000_000;
const MAXIMUM_DEPTH = 100;
const MAXIMUM_OUTPUT = 1 << 26;
const MAXIMUM_COUNT = 100_000;

/** How a list of nodes ended. */
type Completion = "normal" | "break" | "continue";

interface Variable {
  name: string;
  value: GoValue;
}

/** The text that a template prints. Error: GoTemplateError. */
export function runGoTemplate(
  tree: Tree,
  functions: ReadonlyMap<string, GoFunction>,
  data: GoValue,
): string {
  const interpreter = new Interpreter(tree, functions);
  interpreter.runTemplate(tree.body, data, 1);
  return interpreter.output;
}

class Interpreter {
  output = "";
  readonly #tree: Tree;
  readonly #functions: ReadonlyMap<string, GoFunction>;
  #variables: Variable[] = [];
  #steps = 0;
  #depth = 0;

  constructor(tree: Tree, functions: ReadonlyMap<string, GoFunction>) {
    this.#tree = tree;
    this.#functions = functions;
  }

  /** Runs a template with variables of its own; `$` is what it is given. */
  runTemplate(nodes: readonly Node[], data: GoValue, line: number): void {
    if (++this.#depth > MAXIMUM_DEPTH) {
      throw new GoTemplateError("templates call each other too deeply", line);
    }
    const outer = this.#variables;
    this.#variables = [{ name: "$", value: data }];
    this.#run(nodes, data);
    this.#variables = outer;
    this.#depth--;
  }

  #run(nodes: readonly Node[], dot: GoValue): Completion {
    for (const node of nodes) {
      const completion = this.#execute(node, dot);
      if (completion !== "normal") return completion;
    }
    return "normal";
  }

  #execute(node: Node, dot: GoValue): Completion {
    switch (node.kind) {
      case "text":
        this.#print(node.text, 1);
        return "normal";
      case "action": {
        const value = this.#evaluate(node.pipeline, dot);
        if (node.pipeline.variables.length === 0) {
          this.#print(printValue(value), node.pipeline.line);
        }
        return "normal";
      }
      case "template": {
        const body = this.#tree.definitions.get(node.name);
        if (!body) throw new GoTemplateError(`no template is named "${node.name}"`, node.line);
        const value = node.pipeline ? this.#evaluate(node.pipeline, dot) : null;
        this.runTemplate(body, value, node.line);
        return "normal";
      }
      case "break":
      case "continue":
        return node.kind;
      default:
        return this.#scoped(() =>
          node.kind === "range" ? this.#range(node, dot) : this.#branch(node, dot)
        );
    }
  }

  #branch({ kind, pipeline, body, otherwise }: Branch, dot: GoValue): Completion {
    const value = this.#evaluate(pipeline, dot);
    if (!isTrue(value)) return this.#run(otherwise, dot);
    return this.#run(body, kind === "with" ? value : dot);
  }

  #range({ pipeline, body, otherwise }: Branch, dot: GoValue): Completion {
    const { variables } = pipeline;
    const items = this.#itemsOf(this.#evaluate({ ...pipeline, variables: [] }, dot), pipeline.line);
    if (items.length === 0) return this.#run(otherwise, dot);
    this.#count(items.length, pipeline.line);
    for (const [key, item] of items) {
      const completion = this.#scoped(() => {
        const values = variables.length === 2 ? [key, item] : [item];
        variables.forEach((name, i) => this.#setVariable(name, values[i]!, pipeline));
        return this.#run(body, item);
      });
      if (completion === "break") break;
    }
    return "normal";
  }

  #itemsOf(value: GoValue, line: number): [GoValue, GoValue][] {
    const plain = bare(value);
    if (plain === null) return [];
    if (Array.isArray(plain)) return plain.map((item, i) => [i, item]);
    if (plain instanceof Map) return [...plain];
    if (typeof plain === "number" && plain <= MAXIMUM_COUNT) {
      return Array.from({ length: Math.max(0, plain) }, (_, i) => [i, i]);
    }
    throw new GoTemplateError(`range cannot visit ${printValue(value)}`, line);
  }

  /** Runs with what variables it declares forgotten afterwards. */
  #scoped<T>(run: () => T): T {
    const { length } = this.#variables;
    const result = run();
    this.#variables.length = length;
    return result;
  }

  #evaluate(pipeline: Pipeline, dot: GoValue): GoValue {
    let value: GoValue | undefined;
    for (const command of pipeline.commands) value = this.#runCommand(command, dot, value);
    for (const name of pipeline.variables) this.#setVariable(name, value!, pipeline);
    return value!;
  }

  #setVariable(name: string, value: GoValue, { isAssignment, line }: Pipeline): void {
    if (isAssignment) this.#findVariable(name, line).value = value;
    else this.#variables.push({ name, value });
  }

  #findVariable(name: string, line: number): Variable {
    const variable = this.#variables.findLast((one) => one.name === name);
    if (!variable) throw new GoTemplateError(`undefined variable ${name}`, line);
    return variable;
  }

  /** @param last what the command before gives, the last argument of this one */
  #runCommand({ operands, line }: Command, dot: GoValue, last: GoValue | undefined): GoValue {
    this.#count(1, line);
    const [first, ...rest] = operands;
    if (first!.kind === "function") return this.#call(first!.name, rest, dot, last, line);
    if (rest.length > 0 || last !== undefined) {
      throw new GoTemplateError("a value that is no function is given arguments", line);
    }
    return this.#value(first!, dot, line);
  }

  #call(
    name: string,
    operands: readonly Operand[],
    dot: GoValue,
    last: GoValue | undefined,
    line: number,
  ): GoValue {
    if (name === "and" || name === "or") {
      return this.#decide(name === "or", operands, dot, last, line);
    }
    const call = this.#functions.get(name);
    if (!call) throw new GoTemplateError(`function "${name}" not defined`, line);
    const values = operands.map((operand) => this.#value(operand, dot, line));
    if (last !== undefined) values.push(last);
    try {
      return call(...values);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw new GoTemplateError(`${name}: ${error.message}`, line);
    }
  }

  /** The functions and, or: the first value that decides, and nothing behind it is looked at. */
  #decide(
    decisive: boolean,
    operands: readonly Operand[],
    dot: GoValue,
    last: GoValue | undefined,
    line: number,
  ): GoValue {
    if (operands.length === 0 && last === undefined) {
      throw new GoTemplateError("and, or: at least one argument is needed", line);
    }
    let value: GoValue = null;
    for (const operand of operands) {
      value = this.#value(operand, dot, line);
      if (isTrue(value) === decisive) return value;
    }
    return last === undefined ? value : last;
  }

  #value(operand: Operand, dot: GoValue, line: number): GoValue {
    switch (operand.kind) {
      case "dot":
        return dot;
      case "literal":
        return operand.value;
      case "float":
        return new Float64(operand.value);
      case "variable":
        return this.#findVariable(operand.name, line).value;
      case "function":
        return this.#call(operand.name, [], dot, undefined, line);
      case "pipeline":
        return this.#evaluate(operand.pipeline, dot);
      case "fields":
        return operand.names.reduce(
          (value, name) => fieldOf(value, name, line),
          this.#value(operand.of, dot, line),
        );
    }
  }

  #print(text: string, line: number): void {
    this.output += text;
    this.#count(1, line);
    if (this.output.length > MAXIMUM_OUTPUT) {
      throw new GoTemplateError("the output has no end", line);
    }
  }

  #count(steps: number, line: number): void {
    this.#steps += steps;
    if (this.#steps > MAXIMUM_STEPS) throw new GoTemplateError("the template does not end", line);
  }
}

/** The field of a struct or a map; of a map, one that is missing is nil. */
function fieldOf(value: GoValue, name: string, line: number): GoValue {
  const plain = bare(value);
  if (plain instanceof Map) return plain.get(name) ?? null;
  const field = plain instanceof Struct ? plain.get(name) : undefined;
  if (field === undefined) {
    const subject = plain === null ? "nil" : "a value without such a field";
    throw new GoTemplateError(`cannot take field ${name} of ${subject}`, line);
  }
  return field;
}
