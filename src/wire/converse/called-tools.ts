// The tools that a conversation has called, whether or not it still offers them: Converse refuses calls without tools.
import type { Conversation, Tool } from '../../core/request.ts'

export function calledTools({ messages }: Conversation): Tool[] {
  const names = new Set<string>()
  for (const { role, parts } of messages) {
    if (role !== 'assistant') continue
    for (const part of parts) if (part.type === 'tool-call') names.add(part.name)
  }
  return [...names].map((name) => ({ type: 'function', name, schema: {} }))
}
