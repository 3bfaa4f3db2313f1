// What a tool choice amounts to, for formats that cannot express it directly.
import type { Conversation, Tool } from '../core/request.ts'

/** The tools without those that a list of allowed ones leaves out, for formats that have no such list. */
export function allowedTools({ tools, toolChoice }: Conversation): readonly Tool[] {
  if (toolChoice?.type !== 'allowed') return tools
  const names = new Set(toolChoice.names)
  return tools.filter(({ name }) => names.has(name))
}

/** The same conversation without such a list. */
export function withAllowedOnly(request: Conversation): Conversation {
  const { toolChoice } = request
  if (toolChoice?.type !== 'allowed') return request
  const type = toolChoice.required ? 'required' : 'auto'
  return { ...request, tools: allowedTools(request), toolChoice: { type } }
}

export function forcesTool({ toolChoice }: Conversation): boolean {
  if (toolChoice?.type === 'allowed') return toolChoice.required
  return toolChoice?.type === 'required' || toolChoice?.type === 'tool'
}
