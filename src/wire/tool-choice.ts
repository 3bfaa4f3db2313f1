// What the choice among tools comes to, for whoever cannot be told it as it is.
import type { Conversation, Tool } from '../core/request.ts'

/** The tools without those that may not be called, for formats that have no list of allowed ones. */
export function allowedTools({ tools, toolChoice }: Conversation): readonly Tool[] {
  if (toolChoice?.type !== 'allowed') return tools
  const names = new Set(toolChoice.names)
  return tools.filter(({ name }) => names.has(name))
}

export function forcesTool({ toolChoice }: Conversation): boolean {
  if (toolChoice?.type === 'allowed') return toolChoice.required
  return toolChoice?.type === 'required' || toolChoice?.type === 'tool'
}
