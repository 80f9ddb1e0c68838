// Makes dialects.json: what Python, Rust, Go, Java and Perl find in random texts with random patterns. They are only
// needed here: `deno run -A tests/engine/grammar/language/record_dialects.ts` with `python3`, `cargo`, `go`,
// `java` and `perl` at hand.

import { createDraw } from "./random.ts";
import { randomDialectPattern, randomDialectText } from "./random_dialects.ts";

/** A pattern, texts, and what each dialect that has the pattern found: a digit for each text. */
export interface RecordedPattern {
  readonly source: string;
  readonly texts: readonly string[];
  readonly verdicts: Readonly<Record<string, string>>;
}

const PATTERNS = 450;
const TEXTS = 10;

/** A program that reads a case in JSON from each line, and writes E or the digits of its texts. */
interface Judge {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly run: string;
  /** Patterns that it reads in a meaning of its own, as no other does. */
  readonly differs?: RegExp;
}

const JUDGES: readonly Judge[] = [
  {
    name: "python",
    // Before 3.14 \B is not found in an empty text; [: does not begin a class.
    differs: /\\B|\[:/,
    run: "python3 judge.py",
    files: {
      "judge.py": `
import sys, json, re, warnings
warnings.simplefilter("error")
for line in sys.stdin:
    case = json.loads(line)
    try:
        found = re.compile(case["source"]).search
        print("".join("1" if found(text) else "0" for text in case["texts"]))
    except Exception:
        print("E")
`,
    },
  },
  {
    name: "perl",
    // \Q and \U are part of its strings, and its classes of POSIX are of Unicode.
    differs: /\\[QU]|\[:/,
    run: "perl judge.pl",
    files: {
      "judge.pl": `
use strict; use JSON::PP; binmode(STDIN, ":encoding(UTF-8)");
while (my $line = <STDIN>) {
  my $case = JSON::PP->new->decode($line);
  my $source = $case->{source};
  my $pattern = eval { local $SIG{__WARN__} = sub { die }; qr/$source/u };
  print defined $pattern ? join("", map { $_ =~ $pattern ? 1 : 0 } @{$case->{texts}}) : "E", "\\n";
}
`,
    },
  },
  {
    name: "go",
    run: "go run judge.go",
    files: {
      "judge.go": `
package main
import ("bufio"; "encoding/json"; "fmt"; "os"; "regexp")
func main() {
  lines := bufio.NewScanner(os.Stdin)
  for lines.Scan() {
    var line struct { Source string; Texts []string }
    json.Unmarshal(lines.Bytes(), &line)
    pattern, err := regexp.Compile(line.Source)
    if err != nil { fmt.Println("E"); continue }
    for _, text := range line.Texts {
      if pattern.MatchString(text) { fmt.Print("1") } else { fmt.Print("0") }
    }
    fmt.Println()
  }
}
`,
    },
  },
  {
    name: "java",
    // A bracket in a class begins another one; with the flag m, ^ is not found at the end of a text.
    differs: /\[\^?\[|\[:|\(\?m.*\^/,
    run: "java Judge.java",
    files: {
      "Judge.java": `
import java.util.*; import java.util.regex.*;
public class Judge {
  public static void main(String[] arguments) {
    Scanner lines = new Scanner(System.in, "UTF-8");
    while (lines.hasNextLine()) {
      // Strings between quotes, all units of which are escaped as \\\\uXXXX.
      List<String> texts = new ArrayList<>();
      Matcher quoted = Pattern.compile("\\"((?:u[0-9a-f]{4})*)\\"").matcher(lines.nextLine());
      while (quoted.find()) {
        StringBuilder text = new StringBuilder();
        for (String unit : quoted.group(1).split("u")) {
          if (!unit.isEmpty()) text.append((char) Integer.parseInt(unit, 16));
        }
        texts.add(text.toString());
      }
      try {
        Pattern pattern = Pattern.compile(texts.get(0));
        StringBuilder found = new StringBuilder();
        for (String text : texts.subList(1, texts.size())) found.append(pattern.matcher(text).find() ? 1 : 0);
        System.out.println(found);
      } catch (PatternSyntaxException error) { System.out.println("E"); }
    }
  }
}
`,
    },
  },
  {
    name: "rust",
    run: "cargo run --quiet --release",
    files: {
      "Cargo.toml": `
[package]
name = "judge"
version = "0.1.0"
edition = "2021"
[dependencies]
regex = "1"
serde_json = "1"
`,
      "src/main.rs": `
fn main() {
    for line in std::io::stdin().lines() {
        let case: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        match regex::Regex::new(case["source"].as_str().unwrap()) {
            Err(_) => println!("E"),
            Ok(pattern) => {
                let texts = case["texts"].as_array().unwrap().iter();
                let found = texts.map(|text| pattern.is_match(text.as_str().unwrap()));
                println!("{}", found.map(|one| if one { '1' } else { '0' }).collect::<String>());
            }
        }
    }
}
`,
    },
  },
];

interface Case {
  readonly source: string;
  readonly texts: readonly string[];
}

/** A case as a judge reads it. Java has no reader of JSON. */
function lineOf({ source, texts }: Case, name: string): string {
  if (name !== "java") return JSON.stringify({ source, texts });
  const unit = (text: string, at: number) =>
    "u" + text.charCodeAt(at).toString(16).padStart(4, "0");
  const spelled = (text: string) => Array.from(text.split(""), (_, at) => unit(text, at)).join("");
  return [source, ...texts].map((text) => `"${spelled(text)}"`).join(" ");
}

async function ask({ name, files, run }: Judge, cases: readonly Case[]): Promise<string[]> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${folder}/src`);
    for (const [file, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${folder}/${file}`, text.trimStart());
    }
    const input = cases.map((one) => lineOf(one, name)).join("\n") + "\n";
    await Deno.writeTextFile(`${folder}/cases`, input);
    const command = new Deno.Command("sh", { args: ["-c", `${run} < cases`], cwd: folder });
    const { stdout, stderr } = await command.output();
    const lines = new TextDecoder().decode(stdout).trimEnd().split("\n");
    if (lines.length === cases.length) return lines;
    throw new Error(`${name} judged ${lines.length}: ${new TextDecoder().decode(stderr)}`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function isEcmaScript(source: string): boolean {
  try {
    return new RegExp(source, "u") !== undefined;
  } catch {
    return false;
  }
}

if (import.meta.main) {
  const draw = createDraw(5);
  const cases: Case[] = [];
  while (cases.length < PATTERNS) {
    const source = randomDialectPattern(draw);
    const texts = Array.from({ length: TEXTS }, () => randomDialectText(draw));
    if (!isEcmaScript(source)) cases.push({ source, texts });
  }
  const answers = await Promise.all(JUDGES.map((judge) => ask(judge, cases)));
  const records = cases.map(({ source, texts }, at): RecordedPattern => {
    const verdicts = JUDGES.map(({ name, differs }, judge) =>
      [name, answers[judge]![at]!, differs] as const
    )
      .filter(([, verdict, differs]) => verdict !== "E" && !differs?.test(source))
      .map(([name, verdict]) => [name, verdict]);
    return { source, texts, verdicts: Object.fromEntries(verdicts) };
  }).filter(({ verdicts }) => Object.keys(verdicts).length > 0);
  const lines = records.map((record) => JSON.stringify(record)).join(",\n");
  await Deno.writeTextFile(new URL("dialects.json", import.meta.url), `[\n${lines}\n]\n`);
}
