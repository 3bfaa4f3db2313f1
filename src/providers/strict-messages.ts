// Messages of a chat completion for a place that refuses what it does not know: members, call ids and the order of
// roles as Mistral accepts them.
import { createHash } from 'node:crypto'
import type { Json, JsonObject } from '../core/json.ts'
import { isArray, isObject } from '../core/json.ts'
import { THOUGHT_MEMBERS } from '../wire/chat/reasoning.ts'
import { lateInstruction } from '../wire/content/turns.ts'
import { saysSomething } from '../wire/contract/fields.ts'

/** Returns the same list if nothing in it has to change, so that its bytes stay as they are. */
export function knownMessages(messages: readonly Json[]): readonly Json[] {
  const known = messages.map((message, index) =>
    inPlace(withKnownIds(knownMessage(message)), messages[index - 1]),
  )
  return known.every((message, index) => message === messages[index]) ? messages : known
}

/** What that leaves out, by the format's names. */
export function unknownInMessages(messages: readonly Json[]): readonly string[] {
  const names = messages.filter(isObject).flatMap((message) =>
    Object.entries(message)
      .filter(([name, value]) => !isKnownIn(message, name) && saysSomething(value))
      .filter(([name]) => name !== 'refusal')
      .map(([name]) => `messages.${THOUGHT_MEMBERS.includes(name) ? 'reasoning_details' : name}`),
  )
  return [...new Set(names)]
}

const SPOKEN = ['role', 'content']
const KNOWN_MEMBERS = new Map<unknown, readonly string[]>([
  ['system', SPOKEN],
  // Sent as `system` (`compatible.ts`).
  ['developer', SPOKEN],
  ['user', SPOKEN],
  ['assistant', [...SPOKEN, 'tool_calls', 'prefix']],
  ['tool', [...SPOKEN, 'tool_call_id', 'name']],
])

function isKnownIn({ role }: JsonObject, name: string): boolean {
  return KNOWN_MEMBERS.get(role)?.includes(name) ?? true
}

function knownMessage(message: Json): Json {
  if (!isObject(message)) return message
  const entries = Object.entries(message)
  const known = entries.filter(([name]) => isKnownIn(message, name))
  if (known.length === entries.length) return message
  const { content, refusal } = message
  const said = typeof refusal === 'string' ? { content: withRefusal(content, refusal) } : {}
  return { ...Object.fromEntries(known), ...said }
}

/** A refusal is text of the model, and has no member of its own here. */
function withRefusal(content: Json | undefined, refusal: string): Json {
  if (isArray(content)) return [...content, { type: 'text', text: refusal }]
  return typeof content === 'string' ? content + refusal : refusal
}

/** The call ids that it accepts; a conversation may hold calls of other models, whose ids look different. */
const CALL_ID = /^[a-zA-Z\d]{9}$/
const CALL_ID_CHARACTERS = 9

function withKnownIds(message: Json): Json {
  if (!isObject(message)) return message
  const { tool_calls: calls, tool_call_id: id } = message
  if (isArray(calls) && calls.some(hasForeignId)) {
    return { ...message, tool_calls: calls.map(withKnownId) }
  }
  return isForeignId(id) ? { ...message, tool_call_id: knownId(id) } : message
}

function withKnownId(call: Json): Json {
  return isObject(call) && isForeignId(call['id']) ? { ...call, id: knownId(call['id']) } : call
}

function hasForeignId(call: Json): boolean {
  return isObject(call) && isForeignId(call['id'])
}

function isForeignId(id: Json | undefined): id is string {
  return typeof id === 'string' && !CALL_ID.test(id)
}

function knownId(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, CALL_ID_CHARACTERS)
}

/** Instructions after an answer or a tool result are refused, so they move into the user's turn. */
function inPlace(message: Json, before: Json | undefined): Json {
  const isLate = isObject(before) && (before['role'] === 'assistant' || before['role'] === 'tool')
  if (!isLate || !isObject(message) || message['role'] !== 'system') return message
  const { content = null } = message
  const said = isArray(content) ? content.map(inUsersTurn) : inUsersTurn(content)
  return { ...message, role: 'user', content: said }
}

/** The content of an instruction, or a part of it. */
function inUsersTurn(content: Json): Json {
  if (typeof content === 'string') return lateInstruction(content)
  if (!isObject(content) || typeof content['text'] !== 'string') return content
  return { ...content, text: lateInstruction(content['text']) }
}
