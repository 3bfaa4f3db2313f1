// Which models of OpenAI choose their own randomness: those that reason refuse a temperature other than 1, top_p and
// probabilities, from GPT-5.1 on only while they reason. In the client's own words the provider judges.
import type { Conversation } from '../core/request.ts'
import { effortOf } from './effort.ts'

/** `o3-2025-04-16`, `gpt-5`, `openai/gpt-5.4-mini`. */
const NAME = /^(?:[^/]+\/)*(?:(o)\d|gpt-(\d+)(?:\.(\d+))?)(?![\w.])/
/** Those for conversations do not reason as the others do; those for work cannot be kept from it. */
const CHAT = /chat/
const ALWAYS = /-(?:codex|pro)\b/

export function takesSampling({ model, reasoning }: Conversation): boolean {
  const match = NAME.exec(model)
  if (match === null || CHAT.test(model)) return true
  const [, isO, major = '', minor = '0'] = match
  const version = Number(major) + Number(minor) / 10
  if (isO === undefined && version < 5) return true
  if (isO !== undefined || version < 5.1 || ALWAYS.test(model)) return false
  // Up to 5.4 they do not reason unless they are told to.
  return (effortOf(reasoning) ?? (version < 5.5 ? 'none' : undefined)) === 'none'
}
