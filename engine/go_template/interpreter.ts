// Runs a Go template over a value. Depth is bounded here, work and memory by the budget of the
// rendering. Defined by Go's package text/template; missing keys of maps are nil.

import {
  countItems,
  countObjects,
  countSteps,
  joinTexts,
  plain,
  taint,
  type Text,
} from "../../tokenizer/mod.ts";
import { GoTemplateError, refusingLimits } from "./errors.ts";
import { printValue } from "./format.ts";
import type { GoFunction } from "./functions.ts";
import type { Branch, Command, Node, Operand, Pipeline, Tree } from "./syntax.ts";
import { bare, Float64, type GoValue, isTrue, Struct } from "./values.ts";

const MAXIMUM_DEPTH = 100;
const MAXIMUM_COUNT = 100_000;
/** Most units of a value in an error message. */
const MOST_SHOWN = 100;

/** How a list of nodes ended. */
type Completion = "normal" | "break" | "continue";

interface Variable {
  name: string;
  value: GoValue;
}

/** The text that a template prints. Errors: GoTemplateError. */
export function runGoTemplate(
  tree: Tree,
  functions: ReadonlyMap<string, GoFunction>,
  data: GoValue,
): Text {
  const interpreter = new Interpreter(tree, functions);
  return refusingLimits(() => {
    interpreter.runTemplate(tree.body, data, 1);
    return joinTexts(interpreter.output);
  }, () => interpreter.line);
}

class Interpreter {
  readonly output: Text[] = [];
  /** The line of the current node, for errors. */
  line = 1;
  readonly #tree: Tree;
  readonly #functions: ReadonlyMap<string, GoFunction>;
  #variables: Variable[] = [];
  #depth = 0;

  constructor(tree: Tree, functions: ReadonlyMap<string, GoFunction>) {
    this.#tree = tree;
    this.#functions = functions;
  }

  /** Runs a template with variables of its own; `$` is its data. */
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
      countSteps();
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
    const visited = this.#evaluate({ ...pipeline, variables: [] }, dot);
    let isEmpty = true;
    for (const [key, item] of this.#itemsOf(visited, pipeline.line)) {
      isEmpty = false;
      const completion = this.#scoped(() => {
        const values = variables.length === 2 ? [key, item] : [item];
        variables.forEach((name, i) => this.#setVariable(name, values[i]!, pipeline));
        return this.#run(body, item);
      });
      if (completion === "break") break;
    }
    return isEmpty ? this.#run(otherwise, dot) : "normal";
  }

  /** Keys and values, in order. */
  *#itemsOf(value: GoValue, line: number): Generator<[GoValue, GoValue]> {
    const simple = bare(value);
    const count = typeof simple === "number" && simple <= MAXIMUM_COUNT ? simple : undefined;
    if (Array.isArray(simple)) {
      for (const [i, item] of simple.entries()) yield this.#visited(i, item, line);
    } else if (simple instanceof Map) {
      for (const [key, item] of simple) yield this.#visited(taint(key), item, line);
    } else if (count !== undefined) {
      for (let i = 0; i < count; i++) yield this.#visited(i, i, line);
    } else if (simple !== null) {
      const shown = plain(printValue(value)).slice(0, MOST_SHOWN);
      throw new GoTemplateError(`range cannot visit ${shown}`, line);
    }
  }

  #visited(key: GoValue, item: GoValue, line: number): [GoValue, GoValue] {
    this.#count(1, line);
    countObjects(0.5);
    return [key, item];
  }

  /** Runs a function, and removes the variables that it declared. */
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
    else {
      countObjects(1);
      this.#variables.push({ name, value });
    }
  }

  #findVariable(name: string, line: number): Variable {
    countSteps(this.#variables.length / 16);
    const variable = this.#variables.findLast((one) => one.name === name);
    if (!variable) throw new GoTemplateError(`undefined variable ${name}`, line);
    return variable;
  }

  /** @param last the value of the command before, which is the last argument of this one */
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
    countItems(operands.length);
    const values = operands.map((operand) => this.#value(operand, dot, line));
    if (last !== undefined) values.push(last);
    try {
      return call(...values);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw new GoTemplateError(`${name}: ${error.message}`, line);
    }
  }

  /**
   * The functions `and` and `or`: the first value that decides. Arguments after it are not
   * evaluated.
   */
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
    countSteps();
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
          (value, name) => {
            countSteps();
            return fieldOf(value, name, line);
          },
          this.#value(operand.of, dot, line),
        );
    }
  }

  #print(text: Text, line: number): void {
    this.#count(1, line);
    countItems(1);
    this.output.push(text);
  }

  #count(steps: number, line: number): void {
    this.line = line;
    countSteps(steps);
  }
}

/** The field of a struct or a map. In a map, a missing one is nil. */
function fieldOf(value: GoValue, name: string, line: number): GoValue {
  const simple = bare(value);
  if (simple instanceof Map) return simple.get(name) ?? null;
  const field = simple instanceof Struct ? simple.get(name) : undefined;
  if (field === undefined) {
    const subject = simple === null ? "nil" : "a value without such a field";
    throw new GoTemplateError(`cannot take field ${name} of ${subject}`, line);
  }
  return field;
}
