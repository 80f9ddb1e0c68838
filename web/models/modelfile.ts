// A Modelfile as the body of /api/create. Files of this machine (FROM ./x.gguf, ADAPTER) need the command
// line, which uploads them. Pure. Format: https://github.com/ollama/ollama/blob/main/docs/modelfile.md

/** @throws Error that names what cannot be read */
export function readModelfile(source: string): Record<string, unknown> {
  const parameters: Record<string, unknown> = {};
  const messages: { role: string; content: string }[] = [];
  const body: Record<string, unknown> = {};
  const pattern = /^[ \t]*(?:#.*|([A-Za-z]+)[ \t]+(?:"""([^]*?)"""|(.*)))?[ \t]*$/gm;
  for (const [line, name, block, rest] of source.matchAll(pattern)) {
    if (!name) {
      if (line.trim() && !line.trim().startsWith("#")) {
        throw new Error(`This is no instruction: ${line}`);
      }
      continue;
    }
    const value = block ?? unquoted((rest ?? "").trim());
    switch (name.toUpperCase()) {
      case "FROM":
        if (/^[./~]/.test(value)) {
          throw new Error("FROM names a file: use `quern create`, which uploads it");
        }
        body.from = value;
        break;
      case "SYSTEM":
      case "TEMPLATE":
      case "LICENSE":
        body[name.toLowerCase()] = value;
        break;
      case "PARAMETER": {
        const [, key = "", given = ""] = /^(\S+)\s+(.*)$/.exec(value) ?? [];
        const read = valueOf(unquoted(given));
        if (key === "stop") parameters.stop = [...parameters.stop as string[] ?? [], String(read)];
        else parameters[key] = read;
        break;
      }
      case "MESSAGE": {
        const [, role = "", content = ""] = /^(\S+)\s+(.*)$/.exec(value) ?? [];
        messages.push({ role, content: unquoted(content) });
        break;
      }
      default:
        throw new Error(`${name} is not known here: use ${KNOWN.join(", ")}`);
    }
  }
  if (!body.from) throw new Error("FROM is missing: it names the model to begin with");
  return {
    ...body,
    ...(Object.keys(parameters).length > 0 && { parameters }),
    ...(messages.length > 0 && { messages }),
  };
}

const KNOWN = ["FROM", "SYSTEM", "TEMPLATE", "PARAMETER", "MESSAGE", "LICENSE"];

function unquoted(value: string): string {
  return /^"[^]*"$/.test(value) ? value.slice(1, -1) : value;
}

function valueOf(value: string): unknown {
  if (value === "true" || value === "false") return value === "true";
  return value !== "" && Number.isFinite(Number(value)) ? Number(value) : value;
}
