// `deno task bench:speech --model GGUF... --sound WAV [--rounds 5] [--threads 2]`: seconds in which Whisper
// transcribes a sound on the CPU, in turns with faster-whisper (--python, a Python that has it, with
// --ct2, its folder of the same model, and --types of its products) and whisper.cpp (--whisper-cli and --bin). All
// take the likeliest token, with times, without fallback and beams. The result is Markdown.

import { parseArgs } from "node:util";
import { decodeSound } from "../engine/audio/mod.ts";
import { loadModel } from "../engine/mod.ts";
import { load, median, print } from "./report.ts";
import { temporaryFolder } from "./temporary.ts";

const { values: options } = parseArgs({
  options: {
    model: { type: "string", multiple: true, default: [] },
    sound: { type: "string", default: "" },
    rounds: { type: "string", default: "5" },
    threads: { type: "string", default: "2" },
    python: { type: "string" },
    ct2: { type: "string", default: "" },
    types: { type: "string", default: "float32,int8" },
    "whisper-cli": { type: "string" },
    bin: { type: "string", default: "" },
  },
});
const threads = Number(options.threads);

/** Something that transcribes the sound once, and gives the seconds that it took, and the text. */
interface Engine extends AsyncDisposable {
  readonly name: string;
  run(): Promise<{ seconds: number; text: string }>;
}

async function openQuern(path: string, samples: Float32Array): Promise<Engine> {
  const model = await loadModel(path, { device: { kind: "cpu", threads } });
  return {
    name: `quern, ${path.split("/").at(-1)}`,
    async run() {
      const started = performance.now();
      let text = "";
      for await (const event of model.transcribe({ audio: samples, language: "en", seed: 1 })) {
        if (event.type === "segment") text += event.text;
      }
      return { seconds: (performance.now() - started) / 1000, text };
    },
    [Symbol.asyncDispose]: () => model.close(),
  };
}

/** Answers each line of its input with the seconds and the text, as JSON. */
const PYTHON = `
import json, sys, time, wave
import numpy
from faster_whisper import WhisperModel
folder, sound, kind, threads = sys.argv[1:]
model = WhisperModel(folder, device="cpu", compute_type=kind, cpu_threads=int(threads))
file = wave.open(sound)
samples = numpy.frombuffer(file.readframes(file.getnframes()), numpy.int16) / numpy.float32(32768)
for line in sys.stdin:
    started = time.perf_counter()
    segments, _ = model.transcribe(samples, language="en", beam_size=1, temperature=0)
    text = "".join(segment.text for segment in segments)
    print(json.dumps({"seconds": time.perf_counter() - started, "text": text}), flush=True)
`;

async function openFasterWhisper(folder: string, kind: string): Promise<Engine> {
  const program = `${folder}/faster_whisper_${kind}.py`;
  await Deno.writeTextFile(program, PYTHON);
  const process = new Deno.Command(options.python!, {
    args: [program, options.ct2, options.sound, kind, String(threads)],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = process.stdin.getWriter();
  const lines = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const name = `faster-whisper, ${kind}`;
  return {
    name,
    async run() {
      await writer.write(new TextEncoder().encode("go\n"));
      let line = "";
      while (!line.endsWith("\n")) {
        const { done, value } = await lines.read();
        if (done) throw new Error(`Cannot run ${name}: it ended`);
        line += value;
      }
      return JSON.parse(line);
    },
    async [Symbol.asyncDispose]() {
      await writer.close();
      await process.status;
    },
  };
}

/** The program tells how long it took, without loading. */
function openWhisperCpp(): Engine {
  return {
    name: "whisper.cpp",
    async run() {
      const decoder = new TextDecoder();
      const { stdout, stderr } = await new Deno.Command(options["whisper-cli"]!, {
        args: [
          ...["-m", options.bin, "-f", options.sound, "-t", String(threads), "-l", "en"],
          ...["-bs", "1", "-bo", "1", "-nf"],
        ],
      }).output();
      const milliseconds = (name: string) =>
        Number(decoder.decode(stderr).match(new RegExp(`${name} time = +([\\d.]+)`))?.[1]);
      const text = decoder.decode(stdout).replaceAll(/\[.*?\]\s*/g, "").replaceAll(/\s+/g, " ");
      return { seconds: (milliseconds("total") - milliseconds("load")) / 1000, text };
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

using folder = temporaryFolder();
const samples = await decodeSound(await Deno.readFile(options.sound));
const engines: Engine[] = [];
for (const path of options.model) engines.push(await openQuern(path, samples));
if (options.python) {
  for (const type of options.types.split(",")) {
    engines.push(await openFasterWhisper(folder.path, type));
  }
}
if (options["whisper-cli"]) engines.push(openWhisperCpp());
const times = new Map(engines.map(({ name }) => [name, [] as number[]]));
const texts = new Map<string, string>();
// The first round warms up.
for (let round = 0; round <= Number(options.rounds); round++) {
  for (const engine of engines) {
    const { seconds, text } = await engine.run();
    texts.set(engine.name, text.trim());
    if (round > 0) times.get(engine.name)!.push(seconds);
  }
}
const length = samples.length / 16_000;
print(`${length.toFixed(1)} s of speech, ${threads} threads, load ${load()}, medians\n`);
print("| engine | seconds | real-time factor | text |\n| --- | --- | --- | --- |");
const [first] = texts.values();
for (const [name, seconds] of times) {
  const middle = median(seconds);
  const same = texts.get(name) === first ? "alike" : "other";
  print(`| ${name} | ${middle.toFixed(2)} | ${(middle / length).toFixed(3)} | ${same} |`);
}
for (const engine of engines) await engine[Symbol.asyncDispose]();
