// `deno task bench:vision [SHAPE...]`: how long a picture takes to become embeddings, beside llama.cpp
// with the same files on the same machine, in turns: `deno task bench:peers:vision` builds it of npm's
// node-llama-cpp, --llama-cpp names another. Shapes, such as gemma3:12x768@448, are written
// here with random weights; --mmproj and --model name files instead. The result is Markdown.

import { parseArgs } from "node:util";
import { openDevice } from "../kernels/mod.ts";
import { driverVersion } from "./driver.ts";
import { buildMtmdCli } from "./mtmd_build.ts";
import { LlamaCpp } from "./vision_llama_cpp.ts";
import { parseShape, type VisionFiles, writeVisionModel } from "./vision_models.ts";
import { OwnEncoder } from "./vision_own.ts";
import { makePicture } from "./vision_picture.ts";
import { median, print } from "./report.ts";

/** Layers of SigLIP base; of SigLIP so400m with as many patches as Gemma 3 has; of Qwen2.5-VL's encoder. */
const SHAPES = ["gemma3:4x768@448", "gemma3:1x1152@896", "qwen2.5vl:2x1280"];

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    // Files of a model instead of shapes.
    mmproj: { type: "string" },
    model: { type: "string", default: "" },
    // A file of a picture, or the size of a picture that is made.
    picture: { type: "string", default: "560x420" },
    // How often each engine is started, and how often it encodes after the first time.
    rounds: { type: "string", default: "3" },
    warm: { type: "string", default: "1" },
    // The program llama-mtmd-cli, or "npm" to build it, and the minutes after which a run of it is
    // ended.
    "llama-cpp": { type: "string" },
    minutes: { type: "string", default: "10" },
  },
});
const rounds = Number(options.rounds);
const pictures = 1 + Number(options.warm);
const minutes = Number(options.minutes);

/** Milliseconds of one engine. */
class Times {
  readonly load: number[] = [];
  readonly prepare: number[] = [];
  readonly cold: number[] = [];
  readonly warm: number[] = [];
  tokens = 0;
  /** The reason why there are no more. */
  fault: string | undefined;

  constructor(readonly engine: string) {}

  /** Notes the times of a process's pictures. */
  add(encode: readonly number[], tokens: number): void {
    const [cold, ...warm] = encode;
    this.cold.push(...cold === undefined ? [] : [cold]);
    this.warm.push(...warm);
    this.tokens = tokens;
  }
}

/** An engine with a model and a picture. Each run loads and encodes anew. */
interface Contender {
  readonly times: Times;
  run(): Promise<void>;
}

function own({ projector }: VisionFiles, picture: string, description: string): Contender {
  const times = new Times(`Quern, ${description}`);
  async function run(): Promise<void> {
    const bytes = await Deno.readFile(picture);
    using encoder = await OwnEncoder.load(projector);
    times.load.push(encoder.loading);
    const read = [];
    for (let count = 0; count < pictures; count++) read.push(await encoder.read(bytes));
    times.prepare.push(...read.map(({ prepare }) => prepare));
    times.add(read.map(({ encode }) => encode), read[0]!.tokens);
  }
  return { times, run };
}

function others(peer: LlamaCpp, files: VisionFiles, picture: string): Contender[] {
  return peer.devices.map((device) => {
    const times = new Times(`llama.cpp, ${device.description}`);
    async function run(): Promise<void> {
      if (times.fault !== undefined) return;
      try {
        const { encode, tokens } = await peer.read(files, picture, { device, pictures, minutes });
        times.add(encode, tokens);
      } catch (error) {
        // The others continue, so that half an hour of measurements is not lost.
        tell(String(error));
        times.fault = "it failed";
      }
    }
    return { times, run };
  });
}

/** The rows of a table, ours first. Ratios are of the median speeds of warm engines. */
function rows(name: string, [ours, ...others]: readonly Times[]): string[] {
  return [ours!, ...others].map((times) => {
    const cells = [
      name,
      times.engine,
      times.tokens > 0 ? times.tokens.toFixed(0) : "",
      times.load.length > 0 ? median(times.load).toFixed(0) : "",
      times.prepare.length > 0 ? median(times.prepare).toFixed(0) : "",
      range(times.cold),
      range(times.warm),
      times.tokens > 0 ? (median(times.warm) / times.tokens).toFixed(1) : "",
      times === ours ? "" : times.fault ?? (median(times.warm) / median(ours!.warm)).toFixed(2),
    ];
    return `| ${cells.join(" | ")} |`;
  });
}

/** The median, with the least and the greatest. */
function range(numbers: readonly number[]): string {
  if (numbers.length === 0) return "";
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  return `${median(numbers).toFixed(0)} (${least.toFixed(0)} to ${most.toFixed(0)})`;
}

/** Prints what is being measured, apart from the result, because it takes minutes. */
function tell(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(text + "\n"));
}

/** The path of the picture, and a description. */
async function findPicture(directory: string): Promise<[path: string, description: string]> {
  const size = /^(\d+)x(\d+)$/.exec(options.picture);
  if (!size) return [options.picture, "the picture that was named"];
  const path = `${directory}/picture.png`;
  const bytes = makePicture(Number(size[1]), Number(size[2]));
  await Deno.writeFile(path, bytes);
  return [path, `a PNG of ${options.picture} pixels, ${(bytes.length / 1e6).toFixed(1)} MB`];
}

/** The models to measure, one after the other, so that only one is on the disk. */
async function* models(directory: string): AsyncGenerator<[name: string, VisionFiles]> {
  const { mmproj, model } = options;
  if (mmproj !== undefined) yield ["the files named", { projector: mmproj, decoder: model }];
  const shapes = positionals.length > 0 || mmproj !== undefined ? positionals : SHAPES;
  for (const shape of shapes) yield [shape, await writeVisionModel(directory, parseShape(shape))];
}

const directory = await Deno.makeTempDir();
try {
  const [picture, what] = await findPicture(directory);
  const program = options["llama-cpp"];
  const peer = program === undefined
    ? undefined
    : await LlamaCpp.find(program === "npm" ? await buildMtmdCli() : program);
  const description = await (async () => {
    using device = await openDevice();
    return device.profile.description;
  })();
  print(
    `# Images, ${new Date().toISOString().slice(0, 10)}\n\n` +
      `\`deno task bench:vision\`: ${description}, ${await driverVersion(description)}, ` +
      `${navigator.hardwareConcurrency} cores, Deno ${Deno.version.deno}` +
      `${peer ? `; llama.cpp ${peer.version}` : ""}. Picture: ${what}. ` +
      `Each engine was started ${rounds} times, in turns, for ${pictures} pictures. ` +
      "Milliseconds, the middle (least to most).\n\n" +
      "| encoder | engine | tokens | load | decode, resize | first picture | further pictures | per token | Quern's speed / its |\n" +
      "|---|---|---|---|---|---|---|---|---|",
  );
  for await (const [name, files] of models(directory)) {
    const contenders = [
      own(files, picture, description),
      ...peer ? others(peer, files, picture) : [],
    ];
    for (let round = 1; round <= rounds; round++) {
      for (const { times, run } of contenders) {
        tell(`${name}, round ${round} of ${rounds}: ${times.engine}`);
        await run();
      }
    }
    rows(name, contenders.map(({ times }) => times)).forEach(print);
  }
} finally {
  await Deno.remove(directory, { recursive: true });
}
