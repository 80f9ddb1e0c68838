// JSON Schemas by which kubeconform checks objects, made of what Go's modules carry: Kubernetes' OpenAPI
// document, and the definitions of the kinds that others add to it. Unknown members are errors.

import { run } from "./programs.ts";

const KUBERNETES = ["k8s.io/kubernetes@v1.34.2", "api/openapi-spec/swagger.json"] as const;
const CUSTOM = [
  [
    "sigs.k8s.io/gateway-api-inference-extension@v1.1.0",
    "config/crd/bases/inference.networking.k8s.io_inferencepools.yaml",
  ],
  [
    "github.com/prometheus-operator/prometheus-operator@v0.85.0",
    "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml",
  ],
] as const;

interface Schema {
  [keyword: string]: unknown;
  properties?: Record<string, Schema>;
  "x-kubernetes-group-version-kind"?: { group: string; version: string; kind: string }[];
}

/** Where kubeconform finds them in a folder: -schema-location. */
export function schemaLocation(folder: string): string {
  return `${folder}/{{.ResourceKind}}{{.KindSuffix}}.json`;
}

/**
 * Writes the schemas into a folder.
 *
 * @param helm turns YAML into JSON
 */
export async function writeSchemas(folder: string, helm: string): Promise<void> {
  const { definitions } = JSON.parse(await Deno.readTextFile(await fileOf(KUBERNETES))) as {
    definitions: Record<string, Schema>;
  };
  const strict = Object.fromEntries(
    Object.entries(definitions).map(([name, schema]) => [name, strictly(schema)]),
  );
  for (const schema of Object.values(strict)) {
    for (const { group, version, kind } of schema["x-kubernetes-group-version-kind"] ?? []) {
      await write(folder, group, version, kind, { ...schema, definitions: usedBy(schema, strict) });
    }
  }
  for (const custom of CUSTOM) {
    const { spec: { group, names, versions } } = await readYaml(await fileOf(custom), helm);
    for (const { name, schema } of versions) {
      await write(folder, group, name, names.kind, strictly(schema.openAPIV3Schema));
    }
  }
}

/** A file of a Go module, which is downloaded unless it is there. */
async function fileOf([module, path]: readonly [string, string]): Promise<string> {
  const { Dir } = JSON.parse(await run("go", ["mod", "download", "-json", module]));
  return `${Dir}/${path}`;
}

async function write(
  folder: string,
  group: string,
  version: string,
  kind: string,
  schema: Schema,
): Promise<void> {
  const suffix = [group.split(".")[0], version].filter(Boolean).join("-");
  const name = `${kind.toLowerCase()}-${suffix}.json`;
  await Deno.writeTextFile(`${folder}/${name}`, JSON.stringify(schema));
}

/** The schema in which an object has no members but those that are named. */
function strictly(schema: Schema): Schema {
  if (schema.format === "int-or-string" || schema["x-kubernetes-int-or-string"]) {
    return { type: ["string", "integer"] };
  }
  const entries = Object.entries(schema).map(([keyword, value]) => {
    if (keyword === "properties") {
      const named = Object.entries(value as Record<string, Schema>);
      return [keyword, Object.fromEntries(named.map(([name, one]) => [name, strictly(one)]))];
    }
    const isSchema = ["items", "additionalProperties"].includes(keyword);
    return [keyword, isSchema && typeof value === "object" ? strictly(value as Schema) : value];
  });
  const closed = schema.properties && !("additionalProperties" in schema) &&
    !schema["x-kubernetes-preserve-unknown-fields"];
  // A custom kind's metadata is left open, as the definition says no more than that it is an object.
  return { ...Object.fromEntries(entries), ...(closed && { additionalProperties: false }) };
}

/** The definitions that a schema needs, and those that these need. */
function usedBy(schema: Schema, all: Record<string, Schema>): Record<string, Schema> {
  const used: Record<string, Schema> = {};
  const visit = (one: Schema) => {
    for (const [, name] of JSON.stringify(one).matchAll(/"#\/definitions\/([^"]+)"/g)) {
      if (used[name!]) continue;
      used[name!] = all[name!]!;
      visit(used[name!]!);
    }
  };
  visit(schema);
  return used;
}

/** A file of YAML, read by a chart that is nothing else. */
async function readYaml(
  path: string,
  helm: string,
): Promise<
  {
    spec: {
      group: string;
      names: { kind: string };
      versions: { name: string; schema: { openAPIV3Schema: Schema } }[];
    };
  }
> {
  const chart = await Deno.makeTempDir();
  await Deno.mkdir(`${chart}/templates`);
  await Deno.writeTextFile(`${chart}/Chart.yaml`, "apiVersion: v2\nname: reader\nversion: 1.0.0\n");
  await Deno.copyFile(path, `${chart}/file.yaml`);
  await Deno.writeTextFile(
    `${chart}/templates/file.yaml`,
    '{{ .Files.Get "file.yaml" | fromYaml | toJson }}',
  );
  const text = await run(helm, ["template", "reader", chart]);
  return JSON.parse(text.slice(text.indexOf("{")));
}
