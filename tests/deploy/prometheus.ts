// A real Prometheus with deploy/prometheus reads two Querns under load: every query of the dashboard in
// deploy/grafana, and every recording rule, has data. promtool checks the files. `deno task test:prometheus`
// runs it where Prometheus is (QUERN_PROMETHEUS, QUERN_PROMTOOL, or in PATH).

import { assert, assertEquals } from "@std/assert";
import { freePort } from "../free_port.ts";
import { BOX } from "../server/box_talk.ts";
import { PROJECT_ROOT } from "../source_files.ts";
import { KEY, Nodes } from "./nodes.ts";
import { findProgram, Program, run } from "./programs.ts";
import { report } from "./report.ts";
import { askStream, says, underLoad } from "./streams.ts";

/** The trace of all requests. */
const TRACE = "0af7651916cd43dd8448eb211c80319c";

const prometheus = findProgram("prometheus", "QUERN_PROMETHEUS");
const promtool = findProgram("promtool", "QUERN_PROMTOOL");
const read = (name: string) => Deno.readTextFile(new URL(`deploy/${name}`, PROJECT_ROOT));

/** A result of Prometheus's API. */
interface Series {
  metric: Record<string, string>;
  value: [at: number, value: string];
}

interface Panel {
  title: string;
  targets?: { expr: string }[];
}

/** The queries of the dashboard, with what Grafana puts in the place of its variables. */
async function dashboardQueries(): Promise<{ title: string; query: string }[]> {
  const { panels } = JSON.parse(await read("grafana/quern.json")) as { panels: Panel[] };
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      title,
      query: expr.replaceAll("$__rate_interval", "1m").replaceAll(/\$\w+/g, ".*"),
    }))
  );
}

/** The names that recording rules give. */
async function recorded(): Promise<string[]> {
  return [...(await read("prometheus/rules.yml")).matchAll(/- record: (\S+)/g)].map(([, name]) =>
    name!
  );
}

/** Writes the files with other nodes, and shorter times between two readings. */
async function configure(ports: readonly number[]): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "quern-prometheus-" });
  let config = await read("prometheus/prometheus.yml");
  for (const [index, port] of ["11434", "11435"].entries()) {
    assert(config.includes(port));
    config = config.replaceAll(port, `${ports[index]}`);
  }
  config = config.replaceAll("_interval: 15s", "_interval: 1s")
    .replace(/# (authorization: ).*/, `$1{ credentials: ${KEY} }`);
  await Deno.writeTextFile(`${folder}/prometheus.yml`, config);
  const rules = await read("prometheus/rules.yml");
  await Deno.writeTextFile(`${folder}/rules.yml`, rules);
  return folder;
}

Deno.test({
  name: "promtool accepts the configuration and the rules",
  ignore: !promtool,
  async fn() {
    const folder = await configure([1, 2]);
    const told = await run(promtool!, ["check", "config", `${folder}/prometheus.yml`]);
    report("promtool", told.trim());
    assert(/SUCCESS: \d+ rules found/.test(told), told);
  },
});

Deno.test({
  name: "every query of the dashboard and every recording rule has data in a real Prometheus",
  ignore: !prometheus,
  async fn() {
    await using nodes = await Nodes.start(2);
    const folder = await configure(nodes.ports);
    const port = freePort();
    const url = `http://127.0.0.1:${port}`;
    await using _ = await Program.start({
      program: prometheus!,
      args: [
        `--config.file=${folder}/prometheus.yml`,
        `--storage.tsdb.path=${folder}/data`,
        `--web.listen-address=127.0.0.1:${port}`,
        "--enable-feature=exemplar-storage",
      ],
      ready: `${url}/-/ready`,
    });
    const ask = async (query: string): Promise<Series[]> => {
      const response = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query })}`);
      const { status, data, error } = await response.json();
      assertEquals(status, "success", `${query}: ${error}`);
      return data.result;
    };
    const isNumber = ({ value: [, text] }: Series) => Number.isFinite(Number(text));

    // Prometheus begins to read some seconds after its start.
    const end = performance.now() + 60_000;
    while ((await ask('up{job="quern"} == 1')).length < 2) {
      assert(performance.now() < end, "Prometheus reads nothing");
      await new Promise((done) => setTimeout(done, 200));
    }
    // Twice, as a counter has to grow between two readings.
    for (let round = 0; round < 2; round++) {
      const answers = await underLoad({
        count: 24,
        atOnce: 8,
        after: 0,
        act: () => {},
        ask: (index) =>
          askStream({
            url: nodes.servers[index % 2]!.url,
            model: BOX,
            messages: says(`Number ${index}: tell me more.`),
            tokens: 40,
            headers: {
              authorization: `Bearer ${KEY}`,
              traceparent: `00-${TRACE}-b7ad6b7169203331-01`,
            },
          }),
      });
      assert(answers.every(({ failed }) => !failed));
      await new Promise((done) => setTimeout(done, 2500));
    }
    assertEquals((await ask('up{job="quern"}')).map(({ value }) => value[1]), ["1", "1"]);

    const queries = await dashboardQueries();
    const empty = [];
    for (const { title, query } of queries) {
      if (!(await ask(query)).some(isNumber)) empty.push(`${title}: ${query}`);
    }
    report("dashboard: queries with data", `${queries.length - empty.length} of ${queries.length}`);
    assertEquals(empty, []);

    const query = "vllm:time_to_first_token_seconds_bucket";
    const hours = { start: `${Date.now() / 1000 - 3600}`, end: `${Date.now() / 1000 + 60}` };
    const asked = `${url}/api/v1/query_exemplars?${new URLSearchParams({ query, ...hours })}`;
    const { data } = await (await fetch(asked)).json();
    const traces = data.flatMap(({ exemplars }: { exemplars: { labels: object }[] }) =>
      exemplars.map(({ labels }) => labels)
    );
    report("exemplars of times to the first token", `${traces.length}`);
    assert(traces.length > 0);
    for (const labels of traces) assertEquals(labels, { trace_id: TRACE });

    const names = await recorded();
    const unrecorded = [];
    for (const name of names) if (!(await ask(name)).some(isNumber)) unrecorded.push(name);
    report("rules with data", `${names.length - unrecorded.length} of ${names.length}`);
    assertEquals(unrecorded, []);
  },
});
