// Twenty schemas of growing difficulty with documents, valid and not. Some are from MaskBench, by
// name, in the conformance data; some are made here of what is known to be slow in other engines.

/** A schema and documents to write under it. */
export interface MaskCase {
  readonly name: string;
  readonly schema: unknown;
  readonly documents: readonly unknown[];
}

const DATA = new URL("../../shared/data/schemas/maskbench/", import.meta.url);

/** The files of MaskBench, and of each the names of schemas. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  Github_trivial: ["Github_trivial---o24474"],
  JME: ["JME_29"],
  Glaiveai2K: ["Glaiveai2K---search_news_702265fd"],
  BFCL: ["BFCL_java_81"],
  Github_easy: ["Github_easy---o89106"],
  Snowplow: ["Snowplow---sp_73_Normalized"],
  MCPspec: ["MCPspec---CompleteRequest"],
  Github_medium: ["Github_medium---o67022"],
  WashingtonPost: ["WashingtonPost---wp_111_Normalized"],
  Kubernetes: ["Kubernetes---kb_429_Normalized", "Kubernetes---kb_24_Normalized"],
  Github_hard: ["Github_hard---o83834", "Github_hard---o89741"],
  JsonSchemaStore: ["JsonSchemaStore---sourcery_yaml_schema"],
  Github_ultra: ["Github_ultra---o44225"],
};

const TEXT = "The quick brown fox jumps over the lazy dog; it's 12:30, isn't it? ";

/** The cases that need no data. */
const MADE: readonly MaskCase[] = [
  {
    name: "any object",
    schema: { type: "object" },
    documents: [{
      a: [1, 2.5, -3e9, null],
      text: TEXT,
      nested: { deep: { er: [true, { x: "" }] } },
    }],
  },
  {
    name: "maxLength 65536",
    schema: {
      type: "object",
      properties: { path: { type: "string", minLength: 1, maxLength: 65536 } },
      required: ["path"],
      additionalProperties: false,
    },
    documents: [{ path: TEXT.repeat(20) }, { path: "" }],
  },
  {
    name: "maxItems 2000",
    schema: {
      type: "array",
      items: { type: "string", maxLength: 2000 },
      minItems: 1,
      maxItems: 2000,
    },
    documents: [Array.from({ length: 100 }, (_, index) => `item ${index}`), []],
  },
  {
    name: "look-ahead, 1 to 200",
    schema: {
      type: "array",
      items: { type: "string", pattern: String.raw`^(?!\.\.?(?:\/|$))[A-Za-z0-9_\-.~:@+]{1,200}$` },
    },
    documents: [["main", "feature.one", "v1.2.3~rc:4@x+y", "a".repeat(200)], [".."], ["a b"]],
  },
  {
    name: "formats and patterns",
    schema: {
      type: "object",
      properties: {
        id: { type: "string", format: "uuid" },
        when: { type: "string", format: "date-time" },
        mail: { type: "string", format: "email" },
        code: { type: "string", pattern: "^[A-Z]{2}-[0-9]{3,10}$" },
        name: { type: "string", pattern: "^[A-Za-z][A-Za-z0-9 _-]*$", maxLength: 50 },
      },
      required: ["id", "when", "mail", "code", "name"],
      additionalProperties: false,
    },
    documents: [{
      id: "123e4567-e89b-12d3-a456-426614174000",
      when: "2026-11-21T08:30:00Z",
      mail: "jane.doe@example.com",
      code: "DE-12345",
      name: "Jane Doe - the second_1",
    }],
  },
];

async function casesOf(file: string, names: readonly string[]): Promise<MaskCase[]> {
  const { readable } = await Deno.open(new URL(`${file}.jsonl.gz`, DATA));
  const text = await new Response(readable.pipeThrough(new DecompressionStream("gzip"))).text();
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line)).filter(({ name }) => names.includes(name))
    .map(({ name, schema, tests }) => ({
      name,
      schema,
      documents: tests.map(({ data }: { data: unknown }) => data),
    }));
}

/** All cases whose data is there, the shortest schema first. */
export async function maskCases(): Promise<MaskCase[]> {
  const cases = [...MADE];
  for (const [file, names] of Object.entries(NAMES)) {
    try {
      cases.push(...await casesOf(file, names));
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  const sizes = new Map(cases.map((one) => [one, JSON.stringify(one.schema).length]));
  return cases.sort((a, b) => sizes.get(a)! - sizes.get(b)!);
}
