// The help texts of the REPL.

import { formatTable } from "../terminal/mod.ts";
import { PARAMETERS } from "./parameters.ts";

const COMMANDS = [
  ["/set", "change a setting of this session"],
  ["/show", "show facts about the model"],
  ["/load <model>", "go on with another model, or a saved session"],
  ["/save <model>", "save this session as a model"],
  ["/clear", "forget the conversation"],
  ["/bye", "leave"],
  ["/?, /help", "this help; also /? set, /? show, /? parameter"],
  ["/? shortcuts", "the keys of the line editor"],
];

const SET = [
  ["/set parameter <name> <value>", "set a parameter of the model; /? parameter names them"],
  ["/set system <text>", "set the system message"],
  ["/set history", "keep what is typed for the up arrow"],
  ["/set nohistory", "keep nothing from here on"],
  ["/set wordwrap", "break answers between words"],
  ["/set nowordwrap", "leave line breaks to the terminal"],
  ["/set format json", "have the model answer in JSON"],
  ["/set noformat", "let it answer as it likes"],
  ["/set verbose", "show counts and rates after each answer"],
  ["/set quiet", "show the answer alone"],
  ["/set think [level]", "let the model think first; low, medium, high or max"],
  ["/set nothink", "have it answer at once"],
];

const SHOW = [
  ["/show info", "architecture, size, capabilities"],
  ["/show license", "the license"],
  ["/show modelfile", "the Modelfile that would make it"],
  ["/show parameters", "its parameters, and those of this session"],
  ["/show system", "the system message"],
  ["/show template", "the prompt template"],
];

const SHORTCUTS = [
  ["Ctrl + a, Home", "to the beginning of the line"],
  ["Ctrl + e, End", "to the end of the line"],
  ["Alt + b, Alt + f", "one word back, one word on"],
  ["Up, Down", "to the line above or below, then to what was typed before"],
  ["Ctrl + r", "search what was typed before"],
  ["Ctrl + k, Ctrl + u", "delete to the end, to the beginning of the line"],
  ["Ctrl + w, Alt + d", "delete the word before, after the cursor"],
  ["Ctrl + y", "put back what was deleted last"],
  ["Alt + Enter", "a new line in the message"],
  ["Ctrl + l", "clear the screen"],
  ["Ctrl + c", "stop the answer, or give up what is typed"],
  ["Ctrl + d", "leave, if nothing is typed"],
];

/** The help about a topic; undefined if there is none. */
export function helpOn(topic: string): string | undefined {
  switch (topic.replace(/^\//, "")) {
    case "":
      return help("Available commands:", COMMANDS) +
        '\nUse """ to begin and to end a message of several lines.\n' +
        "Name text files by their paths, such as ./notes.txt, images and sounds too.\n";
    case "set":
      return help("Available settings:", SET);
    case "show":
      return help("What can be shown:", SHOW);
    case "shortcut":
    case "shortcuts":
      return help("Keys:", SHORTCUTS);
    case "parameter":
    case "parameters":
      return help(
        "Parameters for /set parameter <name> <value>:",
        Object.entries(PARAMETERS).map(([name, { type, help }]) => [
          name,
          type === "texts" ? "text..." : type,
          help,
        ]),
      );
  }
  return undefined;
}

function help(head: string, rows: string[][]): string {
  return `${head}\n${formatTable(rows.map(([first, ...rest]) => [`  ${first}`, ...rest]))}`;
}
