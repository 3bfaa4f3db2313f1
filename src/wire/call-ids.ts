// The calls of a conversation, and their ids, each unique in it. Some servers reuse the same ids in every answer;
// providers of other formats refuse two calls with one id, or mix up their results.
import { randomUUID } from 'node:crypto'

import type { Json } from '../core/json.ts'
import type { AssistantPart, Message, ToolCallPart } from '../core/request.ts'

/** A provider's id for a call, or a new one if it gave none. */
export function callIdOf(given: Json | undefined): string {
  if (typeof given === 'string' && given !== '') return given
  return `call_${randomUUID().replaceAll('-', '')}`
}

/** The id of a call in an answer, or a new one if another call has it: clients match results by id alone. */
export function ownCallId(given: string, taken: Set<string>, newId: () => string): string {
  const id = taken.has(given) ? newId() : given
  taken.add(id)
  return id
}

/** The same list if no id occurs twice. Otherwise repeated ids are replaced, in the same way in every later turn. */
export function withUniqueCallIds(messages: readonly Message[]): readonly Message[] {
  const ids = callsIn(messages).map(({ id }) => id)
  const taken = new Set(ids)
  return taken.size === ids.length ? messages : renamed(messages, taken)
}

/** The calls of a conversation, in their order. */
export function callsIn(messages: readonly Message[]): readonly ToolCallPart[] {
  return messages.flatMap((message) =>
    message.role === 'assistant' ? message.parts.filter((part) => part.type === 'tool-call') : [],
  )
}

function renamed(messages: readonly Message[], taken: Set<string>): readonly Message[] {
  /** The new id of the last call with each id. Results follow their calls, so that is the call they belong to. */
  const names = new Map<string, string>()
  /** The number after which to look for the next free one, by id. */
  const numbers = new Map<string, number>()
  const freeId = (id: string): string => {
    let number = numbers.get(id) ?? 1
    do number += 1
    while (taken.has(`${id}_${number}`))
    numbers.set(id, number)
    return `${id}_${number}`
  }
  const rename = (part: AssistantPart): AssistantPart => {
    if (part.type !== 'tool-call') return part
    const id = names.has(part.id) ? freeId(part.id) : part.id
    names.set(part.id, id)
    return { ...part, id }
  }
  return messages.map((message) => {
    switch (message.role) {
      case 'assistant':
        return { ...message, parts: message.parts.map(rename) }
      case 'tool':
        return { ...message, callId: names.get(message.callId) ?? message.callId }
      case 'system':
      case 'developer':
      case 'user':
        return message
    }
  })
}
