// The table of speeds on hardware in README.md, made from the reports in bench/results/hardware, whose
// README describes their format: `deno task docs:hardware` writes it, and a test fails when it is out of
// date. Reports of drivers that run on the CPU, and of devices that compute wrong, are left out.

const [BEGIN, END] = ["<!-- hardware -->", "<!-- /hardware -->"];

const FOLDER = new URL("./results/hardware/", import.meta.url);

/** The version of the format that is read here. */
const VERSION = 1;

const NONE =
  "Nothing has been measured on a hardware GPU yet; `quern bench MODEL --report` does so " +
  "on yours.";

const HEAD = ["GPU", "model", "prefill", "decode", "of the bandwidth", "beside llama.cpp"];

/** The facts of a report that the table shows. */
export interface HardwareResult {
  readonly device: string;
  readonly model: string;
  readonly prefill: number;
  readonly decode: number;
  /** Speed of reading in decoding, as a fraction of a plain read's. */
  readonly ofRead: number;
  /** Ratios to llama.cpp, of prefill and decode. */
  readonly ratios?: readonly [prefill: number, decode: number];
}

/**
 * Reads a report.
 *
 * @returns undefined where it is not of hardware that computes right
 * @throws {RangeError} that says what is missing
 */
export function readReport(text: string): HardwareResult | undefined {
  const report = JSON.parse(text);
  if (report?.version !== VERSION) {
    throw new RangeError(
      `Cannot read a report: it is of version ${report?.version}, not ${VERSION}`,
    );
  }
  const member = (path: string, type: "string" | "number" | "boolean") => {
    const value = path.split(".").reduce((value, name) => value?.[name], report);
    if (typeof value === type && (type !== "number" || value >= 0)) return value;
    throw new RangeError(`Cannot read a report: its "${path}" is ${value}, not a ${type}`);
  };
  const result = {
    device: member("device.name", "string"),
    model: `${member("model.name", "string")} ${member("model.quantization", "string")}`,
    prefill: member("speed.prefillTokensPerSecond", "number"),
    decode: member("speed.decodeTokensPerSecond", "number"),
    ofRead: member("decodeShareOfRead", "number"),
    ...(report.peer && {
      ratios: (["prefill", "decode"] as const).map((phase) =>
        member(`speed.${phase}TokensPerSecond`, "number") /
        member(`peer.${phase}TokensPerSecond`, "number")
      ) as [number, number],
    }),
  };
  const isHardware = member("device.kind", "string") !== "cpu" &&
    !member("device.software", "boolean");
  return isHardware && member("device.computesRight", "boolean") ? result : undefined;
}

/** The table of results; a sentence where there are none. Columns are as wide as the formatter has them. */
export function hardwareTable(results: readonly HardwareResult[]): string {
  if (results.length === 0) return NONE;
  const rows = results.map(({ device, model, prefill, decode, ofRead, ratios }) => [
    device,
    model,
    prefill.toFixed(0),
    decode.toFixed(0),
    `${(100 * ofRead).toFixed(0)} %`,
    ratios ? ratios.map((ratio) => ratio.toFixed(2)).join(" and ") : "",
  ]).sort((a, b) => a.join() < b.join() ? -1 : 1);
  const all = [HEAD, ...rows];
  const widths = HEAD.map((_, column) => Math.max(...all.map((cells) => cells[column]!.length)));
  const line = (cells: readonly string[], fill = " ") =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i]!, fill)).join(" | ")} |`;
  return [line(HEAD), line(HEAD.map(() => ""), "-"), ...rows.map((cells) => line(cells))].join(
    "\n",
  );
}

/** A page with its table of hardware brought up to date. Errors: RangeError without markers. */
export function withHardwareTable(page: string, results: readonly HardwareResult[]): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) {
    throw new RangeError(`Cannot update the table: no ${BEGIN} followed by ${END}`);
  }
  return `${page.slice(0, begin + BEGIN.length)}\n\n${hardwareTable(results)}\n\n${
    page.slice(end)
  }`;
}

/** All results of a folder. Errors: RangeError that names a file which cannot be read. */
export async function readResults(folder: URL = FOLDER): Promise<HardwareResult[]> {
  const results: HardwareResult[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    if (!name.endsWith(".json")) continue;
    try {
      const result = readReport(await Deno.readTextFile(new URL(name, folder)));
      if (result) results.push(result);
    } catch (error) {
      throw new RangeError(`${name}: ${(error as Error).message}`);
    }
  }
  return results;
}

if (import.meta.main) {
  const path = new URL("../README.md", import.meta.url);
  const page = withHardwareTable(await Deno.readTextFile(path), await readResults());
  await Deno.writeTextFile(path, page);
}
