// Chat completions for servers that follow OpenAI at a distance: the output limit under its original name, which all of
// them obey, and instructions in the role that all of them know. A server that ignores the name of the limit would have
// no limit, and the hold would not cover its output.
import { isArray, isGiven, isObject } from '../core/json.ts'
import type { Json } from '../core/json.ts'
import { readAgain, rewriteMembers } from '../wire/json/body.ts'

export async function inOlderWords(bytes: Buffer): Promise<Buffer> {
  if (!NEWER_WORDS.some((word) => bytes.includes(word))) return bytes
  return rewriteMembers(await readAgain(bytes), ({ max_completion_tokens: limit, messages }) => ({
    max_completion_tokens: undefined,
    ...(isGiven(limit) ? { max_tokens: limit } : {}),
    ...(isArray(messages) && messages.some(isInstruction)
      ? { messages: messages.map(inKnownRole) }
      : {}),
  }))
}

/** The last one because JSON escapes may spell either of the others. */
const NEWER_WORDS = ['"max_completion_tokens"', '"developer"', '\\u00']

function isInstruction(message: Json): boolean {
  return isObject(message) && message['role'] === 'developer'
}

function inKnownRole(message: Json): Json {
  return isObject(message) && isInstruction(message) ? { ...message, role: 'system' } : message
}
