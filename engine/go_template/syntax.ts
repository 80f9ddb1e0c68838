// The syntax tree of a Go template, as its parser makes it. Defined by Go's package
// text/template/parse.

/** An operand with a value, followed by fields of it: `.A.B`, `$x.A`, `(pipeline).A`. */
export type Operand =
  | { kind: "dot" }
  | { kind: "literal"; value: null | boolean | number | string }
  | { kind: "float"; value: number }
  | { kind: "variable"; name: string }
  | { kind: "function"; name: string }
  | { kind: "pipeline"; pipeline: Pipeline }
  | { kind: "fields"; of: Operand; names: readonly string[] };

/** A function or a value with its arguments. */
export interface Command {
  operands: readonly Operand[];
  line: number;
}

/** Commands, each of which is the last argument of the next, and the variables for the result. */
export interface Pipeline {
  variables: readonly string[];
  /** Whether the variables are assigned (`=`) instead of declared (`:=`). */
  isAssignment: boolean;
  commands: readonly Command[];
  line: number;
}

/** A branch or a loop: if, with, range. */
export interface Branch {
  kind: "if" | "with" | "range";
  pipeline: Pipeline;
  body: readonly Node[];
  otherwise: readonly Node[];
}

/** A node, which prints or acts. */
export type Node =
  | { kind: "text"; text: string }
  | { kind: "action"; pipeline: Pipeline }
  | Branch
  | { kind: "template"; name: string; pipeline: Pipeline | undefined; line: number }
  | { kind: "break" | "continue"; line: number };

/** A template and those that are defined in it. */
export interface Tree {
  body: readonly Node[];
  definitions: ReadonlyMap<string, readonly Node[]>;
}

/** Visits every pipeline in the nodes and their children, except parenthesized ones. */
export function visitPipelines(nodes: readonly Node[], visit: (pipeline: Pipeline) => void): void {
  for (const node of nodes) {
    if (node.kind === "action") visit(node.pipeline);
    if (node.kind === "template" && node.pipeline) visit(node.pipeline);
    if (node.kind === "if" || node.kind === "with" || node.kind === "range") {
      visit(node.pipeline);
      visitPipelines(node.body, visit);
      visitPipelines(node.otherwise, visit);
    }
  }
}

/** Visits the names of all fields that a pipeline reads. */
export function visitFields(pipeline: Pipeline, visit: (name: string) => void): void {
  for (const { operands } of pipeline.commands) {
    for (const operand of operands) visitFieldsOfOperand(operand, visit);
  }
}

function visitFieldsOfOperand(operand: Operand, visit: (name: string) => void): void {
  if (operand.kind === "pipeline") visitFields(operand.pipeline, visit);
  if (operand.kind !== "fields") return;
  visitFieldsOfOperand(operand.of, visit);
  operand.names.forEach(visit);
}
