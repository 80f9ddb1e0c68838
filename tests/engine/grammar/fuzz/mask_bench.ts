// The schemas of MaskBench, which are not part of the project: some of them, spread over all its files.

import { dataRoot, hasData } from "../../../tokenizer/vocabularies.ts";

/** A schema as it is written, with a name. */
export interface NamedSchema {
  readonly name: string;
  /** JSON text. */
  readonly text: string;
}

/** Every so many schemas; none where the data is not there. */
export async function readMaskBench(stride: number): Promise<NamedSchema[]> {
  if (!hasData) return [];
  const folder = new URL("schemas/maskbench/", dataRoot);
  const files = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
  const schemas: NamedSchema[] = [];
  let place = 0;
  for (const file of files) {
    const { readable } = await Deno.open(new URL(file, folder));
    const lines = await new Response(readable.pipeThrough(new DecompressionStream("gzip"))).text();
    for (const line of lines.split("\n")) {
      if (line === "" || place++ % stride !== 0) continue;
      const { name, schema } = JSON.parse(line);
      schemas.push({ name: `${file.split(".")[0]}/${name}`, text: JSON.stringify(schema) });
    }
  }
  return schemas;
}
