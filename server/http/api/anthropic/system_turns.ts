// Instructions in the middle of a conversation, which clients send and many templates do not take:
// they refuse the role there, or leave the turn out without a word.

import type { ChatMessage } from "../../../../engine/mod.ts";
import { combineTurns } from "./turns.ts";

/** Texts of the system turns behind the first turn, as a prompt that has them shows them. */
export function laterInstructions(turns: readonly ChatMessage[]): string[] {
  return turns.slice(1).filter(({ role }) => role === "system").map(({ content }) =>
    content.trim()
  );
}

/** The conversation with those turns as the user's, where they are, so that a prefix stays one. */
export function instructionsAsUser(turns: readonly ChatMessage[]): ChatMessage[] {
  return combineTurns(turns.map((turn, index) => {
    return index > 0 && turn.role === "system" ? { ...turn, role: "user" } : turn;
  }));
}
