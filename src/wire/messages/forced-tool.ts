// Where a tool must be called: whether Claude can be made to, or is asked for it in words.
import type { Conversation } from '../../core/request.ts'
import { forcesTool } from '../tool-choice.ts'
import { claudeOf } from './claude.ts'

export function isForcedInWords(request: Conversation): boolean {
  return forcesTool(request) && !claudeOf(request).takesForcedTool
}
