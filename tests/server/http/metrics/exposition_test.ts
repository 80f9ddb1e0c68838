// The text format of metrics, against prom-client's of the same observations, and at its edges.

import * as peer from "prom-client";
import { assert, assertEquals } from "@std/assert";
import {
  Counter,
  createGauge,
  expose,
  EXPOSITION_TYPE,
  Histogram,
  OPEN_METRICS_TYPE,
} from "../../../../server/http/metrics/exposition.ts";

const ODD_LABEL = 'a "quoted" \\ back\nbreak é';

Deno.test("expose() writes what prom-client writes of the same observations", async () => {
  const registers = [new peer.Registry()];
  const plain = { name: "plain_total", help: "Counted without labels.", registers };
  const labelled = { name: "labelled_total", help: "Counted by label.", registers };
  const bounds = [0.5, 1, 2.5, 1e21];
  const seen = { name: "seen_seconds", help: "Seen.", buckets: bounds, registers };
  const level = { name: "level", help: "A level.", registers };
  const theirs = {
    plain: new peer.Counter(plain),
    labelled: new peer.Counter({ ...labelled, labelNames: ["method", "route"] }),
    seen: new peer.Histogram(seen),
    level: new peer.Gauge({ ...level, labelNames: ["kind"] }),
  };
  const ours = {
    plain: new Counter(plain.name, plain.help),
    labelled: new Counter(labelled.name, labelled.help, true),
    seen: new Histogram(seen.name, seen.help, bounds),
    level: createGauge(level.name, level.help, () => [[{ kind: "a" }, -1.5], [{ kind: "b" }, 0]]),
  };
  for (const kind of [["a", -1.5], ["b", 0]] as const) theirs.level.set({ kind: kind[0] }, kind[1]);
  for (const when of ["before", "after"]) {
    const text = await registers[0]!.metrics();
    assertEquals([when, expose(Object.values(ours)).trim()], [when, text.trim()]);
    const labels = [{ method: "GET", route: "/" }, { method: "GET", route: ODD_LABEL }];
    for (const one of [...labels, labels[0]!]) {
      ours.labelled.add(1, one);
      theirs.labelled.inc(one, 1);
    }
    for (const value of [0.1, 0.5, 0.50001, 2.5, 3, 1e22]) {
      ours.seen.observe(value);
      theirs.seen.observe(value);
    }
    ours.plain.add(2.25);
    theirs.plain.inc(2.25);
  }
  assertEquals(EXPOSITION_TYPE, registers[0]!.contentType);
});

Deno.test("expose() writes OpenMetrics with exemplars as prom-client does", async () => {
  const register = new peer.Registry<peer.OpenMetricsContentType>();
  register.setContentType(peer.Registry.OPENMETRICS_CONTENT_TYPE);
  const common = { registers: [register] };
  const theirs = {
    plain: new peer.Counter({ name: "plain_total", help: "Counted.", ...common }),
    seen: new peer.Histogram({
      name: "seen_seconds",
      help: "Seen.",
      buckets: [0.5, 1],
      enableExemplars: true,
      ...common,
    }),
  };
  const ours = {
    plain: new Counter("plain_total", "Counted."),
    seen: new Histogram("seen_seconds", "Seen.", [0.5, 1]),
  };
  ours.plain.add(2);
  theirs.plain.inc(2);
  const values = [[0.1, "a".repeat(32)], [0.2, "b".repeat(32)], [0.7], [
    3,
    "c".repeat(32),
  ]] as const;
  for (const [value, traceId] of values) {
    ours.seen.observe(value, {}, traceId);
    theirs.seen.observe({
      labels: {},
      value,
      ...traceId && { exemplarLabels: { trace_id: traceId } },
    });
  }
  const before = Date.now() / 1000 - 60;
  const withoutTimes = (text: string) =>
    text.replaceAll(/(# \{.*\} \S+) (\S+)/g, (_, exemplar, time) => {
      assert(Number(time) > before, time);
      return exemplar;
    });
  const text = expose(Object.values(ours), true);
  assertEquals(withoutTimes(text), withoutTimes(await register.metrics()));
  assertEquals(text.match(/# \{/g)!.length, 2);
  assertEquals(OPEN_METRICS_TYPE, register.contentType);
  assert(!expose(Object.values(ours)).includes("trace_id"));
});

Deno.test("expose() shows the infinite and what is no number in Prometheus's words", () => {
  const gauge = createGauge("odd", "Odd.", () => [
    [{ a: "1" }, Infinity],
    [{ a: "2" }, -Infinity],
    [{ a: "3" }, NaN],
  ]);
  assertEquals(expose([gauge]).split("\n").slice(2), [
    'odd{a="1"} +Inf',
    'odd{a="2"} -Inf',
    'odd{a="3"} NaN',
    "",
  ]);
});
