// Whether a tool must be called, and whether Claude can be made to or is asked for it in words.
import type { Conversation } from '../../core/request.ts'
import { claudeOf } from './claude.ts'

export function forcesTool({ toolChoice }: Conversation): boolean {
  if (toolChoice?.type === 'allowed') return toolChoice.required
  return toolChoice?.type === 'required' || toolChoice?.type === 'tool'
}

export function isForcedInWords(request: Conversation): boolean {
  return forcesTool(request) && !claudeOf(request).takesForcedTool
}
