// The expansion of .wgsl files: constants, kept and repeated lines, and the errors of directives.

import { assertEquals, assertThrows } from "@std/assert";
import { type Constants, expandTemplate, renamed } from "../../kernels/webgpu/mod.ts";

/** Expands lines and gives those that are left, without the constants in front. */
function expand(lines: string[], constants: Constants = {}): string[] {
  const text = expandTemplate(["first", ...lines].join("\n"), constants);
  return text.slice(text.indexOf("first")).split("\n").slice(1);
}

Deno.test("#insert puts a part in its place, whose directives are expanded with the rest", () => {
  const source = "before\n#for i in 0..2\n  #insert middle\n#end\nafter";
  const parts = { middle: "#if ON\nx$i\n#end" };
  const lines = (on: boolean) => expandTemplate(source, { ON: on }, parts).split("\n");
  assertEquals(lines(true), ["before", "x0", "x1", "after"]);
  assertEquals(lines(false), ["before", "after"]);
  assertThrows(() => expandTemplate(source, {}, {}), SyntaxError, 'there is no part "middle"');
});

Deno.test("expandTemplate() declares numbers as u32 or f32 and booleans not at all", () => {
  const constants = { ROWS: 4, ZERO: 0, HALF: 0.5, MINUS: -2, ON: true };
  assertEquals(
    expandTemplate("fn main() {}", constants),
    "const ROWS = 4u;\nconst ZERO = 0u;\nconst HALF = 0.5f;\nconst MINUS = -2f;\nfn main() {}",
  );
});

Deno.test("expandTemplate() keeps the lines of #if by a constant", () => {
  const lines = ["#if ON", "on", "#else", "off", "#end", "after"];
  assertEquals(expand(lines, { ON: true }), ["on", "after"]);
  assertEquals(expand(lines, { ON: false }), ["off", "after"]);
  assertEquals(expand(["#if !ON", "off", "#end"], { ON: false }), ["off"]);
  assertEquals(expand(["  #if COUNT  ", "some", "#end"], { COUNT: 2 }), ["some"]);
  assertEquals(expand(["#if COUNT", "some", "#end"], { COUNT: 0 }), []);
});

Deno.test("expandTemplate() repeats the lines of #for with its variable replaced", () => {
  const lines = ["#for i in 0..COUNT", "let x$i = y[$i] + y[$in];", "#end"];
  assertEquals(expand(lines, { COUNT: 2 }), [
    "let x0 = y[0] + y[$in];",
    "let x1 = y[1] + y[$in];",
  ]);
  assertEquals(expand(lines, { COUNT: 0 }), []);
  assertEquals(expand(["#for i in 3..5", "$i", "#end"]), ["3", "4"]);
});

Deno.test("expandTemplate() nests blocks", () => {
  const lines = [
    "#for r in 0..2",
    "#for c in 0..2",
    "#if WIDE",
    "sum$r_$c += a$r * b$c;",
    "#else",
    "sum$r;",
    "#end",
    "#end",
    "#end",
  ];
  const wide = ["sum0_0 += a0 * b0;", "sum0_1 += a0 * b1;", "sum1_0 += a1 * b0;"];
  assertEquals(expand(lines, { WIDE: true }), [...wide, "sum1_1 += a1 * b1;"]);
  assertEquals(expand(lines, { WIDE: false }), ["sum0;", "sum0;", "sum1;", "sum1;"]);
});

Deno.test("expandTemplate() drops what is nested in lines that are not kept", () => {
  const lines = ["#if OFF", "#if ON", "inner", "#else", "other", "#end", "#else", "kept", "#end"];
  assertEquals(expand(lines, { ON: true, OFF: false }), ["kept"]);
});

Deno.test("expandTemplate() refuses directives that it cannot follow", () => {
  assertThrows(() => expand(["#if MISSING", "#end"]), SyntaxError, "MISSING has no value");
  assertThrows(() => expand(["#for i in 0..N", "#end"]), SyntaxError, "N has no value");
  assertThrows(() => expand(["#for i = 0..2", "#end"]), SyntaxError, "#for i = 0..2");
  assertThrows(() => expand(["#if ON", "x"], { ON: true }), SyntaxError, "no #end");
  assertThrows(() => expand(["#end"]), SyntaxError, "stray #end");
  assertThrows(() => expand(["#else"]), SyntaxError, "stray #else");
});

Deno.test("expandTemplate() refuses #else where there is no #if to take it", () => {
  assertThrows(() => expand(["#for i in 0..2", "a$i", "#else", "b", "#end"]), SyntaxError);
  const twice = ["#if ON", "a", "#else", "b", "#else", "c", "#end"];
  assertThrows(() => expand(twice, { ON: true }), SyntaxError);
});

Deno.test("renamed() gives declarations other names and bindings, but not members", () => {
  const code = [
    "struct Params { rows: u32 }",
    "@group(0) @binding(0) var<uniform> params: Params;",
    "@group(0) @binding(8) var<storage, read> w: array<vec4<u32>>;",
    "var<workgroup> sums: array<f32, SIZE>;",
    "const SIZE = 4u;",
    "alias Size = u32;",
    "fn size(w0: Size) -> u32 { return w0.x + v.w + params.rows + sums[w[0].w] + size(y); }",
  ];
  assertEquals(renamed(code.join("\n"), 2).split("\n"), [
    "struct Params_2 { rows: u32 }",
    "@group(0) @binding(64) var<uniform> params_2: Params_2;",
    "@group(0) @binding(72) var<storage, read> w_2: array<vec4<u32>>;",
    "var<workgroup> sums_2: array<f32, SIZE_2>;",
    "const SIZE_2 = 4u;",
    "alias Size_2 = u32;",
    "fn size_2(w0: Size_2) -> u32 { return w0.x + v.w + params_2.rows + sums_2[w_2[0].w] + size_2(y); }",
  ]);
});
