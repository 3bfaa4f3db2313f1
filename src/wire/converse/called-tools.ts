// The tools that a conversation has called, whether or not it still offers them: Converse refuses calls without tools.
import type { Conversation, Tool } from '../../core/request.ts'
import { callsIn } from '../call-ids.ts'

export function calledTools({ messages }: Conversation): Tool[] {
  const names = new Set(callsIn(messages).map(({ name }) => name))
  return [...names].map((name) => ({ type: 'function', name, schema: {} }))
}
