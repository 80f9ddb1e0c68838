// The chart of deploy/helm with the real helm and kubeconform: it is linted and rendered with the values
// that people give, what is rendered is valid for Kubernetes, and the script that fills the models' volume
// runs. `deno task test:chart` runs it where they are (QUERN_HELM, QUERN_KUBECONFORM, or in PATH); Go has
// the schemas.

import { assert, assertEquals } from "@std/assert";
import { Server } from "../attack/server.ts";
import { freePort } from "../free_port.ts";
import { PROJECT_ROOT } from "../source_files.ts";
import { findProgram, run } from "./programs.ts";
import { schemaLocation, writeSchemas } from "./kube_schemas.ts";
import { report } from "./report.ts";

const CHART = new URL("deploy/helm/quern", PROJECT_ROOT).pathname;
/** A folder of JSON Schemas. */
let schemas: string;
const helm = findProgram("helm", "QUERN_HELM");
const kubeconform = findProgram("kubeconform", "QUERN_KUBECONFORM");

/** Values that people give, and the kinds that are rendered beside those of the default ones. */
const SETS: [name: string, values: object, kinds: string[]][] = [
  ["default", {}, []],
  ["models in a volume", {
    models: {
      size: "50Gi",
      storageClass: "fast",
      pull: ["gemma3:1b"],
      create: { mine: "FROM quern:tiny" },
    },
    preload: ["gemma3:1b", "mine"],
  }, ["ConfigMap", "Job", "PersistentVolumeClaim"]],
  ["a volume that is there", { models: { existingClaim: "models" }, minAvailable: null }, [
    "-PodDisruptionBudget",
  ]],
  ["GPUs", {
    gpu: { count: 1 },
    resources: { limits: { cpu: "4", memory: "16Gi" } },
    nodeSelector: { gpu: "yes" },
    tolerations: [{ key: "nvidia.com/gpu", operator: "Exists", effect: "NoSchedule" }],
  }, []],
  [
    "keys",
    { keys: { apiKey: "secret", file: '{"keys": []}' }, serviceMonitor: { enabled: true } },
    [
      "Secret",
      "ServiceMonitor",
    ],
  ],
  ["keys that are there", { keys: { existingSecret: "mine" } }, []],
  ["autoscaling", { autoscaling: { enabled: true, cpu: 80 }, minAvailable: "50%" }, [
    "HorizontalPodAutoscaler",
  ]],
  ["a closed network", {
    networkPolicy: { enabled: true, from: [{ podSelector: { matchLabels: { app: "gateway" } } }] },
  }, ["NetworkPolicy"]],
  ["an inference pool", {
    inferencePool: { enabled: true, endpointPicker: { name: "picker" } },
    podLabels: { "llm-d.ai/model": "quern-tiny" },
  }, ["InferencePool"]],
  ["placement", {
    image: { repository: "registry.test/quern", tag: "1", pullPolicy: "Always" },
    imagePullSecrets: [{ name: "pull" }],
    priorityClassName: "high",
    podAnnotations: { "prometheus.io/scrape": "true" },
    affinity: { podAntiAffinity: {} },
    topologySpreadConstraints: [{
      maxSkew: 1,
      topologyKey: "kubernetes.io/hostname",
      whenUnsatisfiable: "ScheduleAnyway",
    }],
    env: { OLLAMA_CONTEXT_LENGTH: 8192 },
    service: { type: "LoadBalancer", port: 80, annotations: { a: "b" } },
  }, []],
];

/** Values that must be refused, and a part of what is said. */
const REFUSED: [values: object, why: RegExp][] = [
  [{ replica: 2 }, /replica/],
  [{ models: { pull: ["gemma3:1b"] } }, /need a volume/],
  [{ inferencePool: { enabled: true } }, /service of an endpoint picker/],
  [{
    inferencePool: { enabled: true, endpointPicker: { name: "picker" } },
    keys: { apiKey: "secret" },
  }, /exclude each other/],
  [{ gpu: { count: -1 } }, /count/],
];

async function write(name: string, text: string): Promise<string> {
  const path = `${await Deno.makeTempDir()}/${name}`;
  await Deno.writeTextFile(path, text);
  return path;
}

async function template(values: object, ...args: string[]): Promise<string> {
  const file = await write("values.json", JSON.stringify(values)); // JSON is YAML.
  return await run(helm!, [
    "template",
    "quern",
    CHART,
    "--namespace",
    "models",
    "-f",
    file,
    ...args,
  ]);
}

/** The kinds of the objects in what was rendered. */
function kindsIn(text: string): string[] {
  return [...text.matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind!).sort();
}

Deno.test.beforeAll(async () => {
  schemas = await Deno.makeTempDir();
  if (helm && kubeconform) await writeSchemas(schemas, helm);
});

Deno.test({ name: "helm lints the chart", ignore: !helm }, async () => {
  const told = await run(helm!, ["lint", "--strict", CHART]);
  assert(told.includes("1 chart(s) linted, 0 chart(s) failed"), told);
});

for (const [name, values, more] of SETS) {
  Deno.test(
    { name: `the chart renders ${name}, and Kubernetes accepts it`, ignore: !helm },
    async () => {
      const text = await template(values);
      const expected = ["Deployment", "PodDisruptionBudget", "Service", ...more]
        .filter((kind) => !kind.startsWith("-") && !more.includes(`-${kind}`));
      assertEquals(kindsIn(text), expected.sort());
      if (!kubeconform) return;
      const told = await run(kubeconform, [
        "-strict",
        "-summary",
        "-schema-location",
        schemaLocation(schemas),
        await write("objects.yaml", text),
      ]);
      report(`chart: ${name}`, told.trim());
      assert(/Invalid: 0, Errors: 0, Skipped: 0/.test(told), told);
    },
  );
}

for (const [values, why] of REFUSED) {
  Deno.test({ name: `the chart refuses ${JSON.stringify(values)}`, ignore: !helm }, async () => {
    const told = await template(values).then(() => "it was rendered", (error) => String(error));
    assert(why.test(told), told);
  });
}

Deno.test(
  { name: "the job fills a volume, which a server then only reads", ignore: !helm },
  async () => {
    const create = { "mine:small": 'FROM quern:tiny\nSYSTEM "Be brief."' };
    const text = await template({ models: { size: "1Gi", create } });
    const [, script] = /^ {2}fill\.sh: \|\n((?: {4}.*\n|\n)*)/m.exec(text)!;
    const [, modelfile] = /^ {2}mine_small: (.*)$/m.exec(text)!;
    const [, mark] = /until \[ -e \/models\/(\.has-\w+) \]/.exec(text)!;
    const folder = await Deno.makeTempDir();
    await Deno.mkdir(`${folder}/bin`);
    await Deno.writeTextFile(`${folder}/mine_small`, JSON.parse(modelfile!));
    const main = new URL("mod.ts", PROJECT_ROOT).pathname;
    await Deno.writeTextFile(
      `${folder}/bin/quern`,
      `#!/bin/sh\nexec ${Deno.execPath()} run -A --no-check ${main} "$@"\n`,
      { mode: 0o755 },
    );
    const models = `${folder}/models`;
    await run("sh", ["-c", script!.replaceAll(/^ {4}/gm, "").replaceAll("/fill/", `${folder}/`)], {
      PATH: `${folder}/bin:${Deno.env.get("PATH")}`,
      OLLAMA_HOST: `127.0.0.1:${freePort()}`,
      OLLAMA_MODELS: models,
      QUERN_CACHE: `${folder}/cache`,
      QUERN_NO_SETUP: "1",
      HOME: folder,
    });
    assert((await Deno.stat(`${models}/${mark}`)).isFile);

    await Deno.mkdir(`${models}/.cache`); // Of the server of tests.
    await run("mount", ["--bind", "-o", "ro", models, models]);
    try {
      await using server = await Server.start({
        folder: models,
        environment: {
          QUERN_CACHE: `${folder}/cache`,
          QUERN_PRELOAD: "mine:small",
          QUERN_DEVICE: "cpu",
        },
      });
      const response = await fetch(`${server.url}/api/generate`, {
        method: "POST",
        body: JSON.stringify({
          model: "mine:small",
          prompt: "Hi",
          stream: false,
          options: { num_predict: 4 },
        }),
      });
      assertEquals(response.status, 200, await response.text());
      report("chart: log of a server with a read-only volume", server.lines);
    } finally {
      await run("umount", [models]);
    }
  },
);
