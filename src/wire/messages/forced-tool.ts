// Whether a required tool call must be requested in words, because the Claude model refuses a forced one.
import type { Conversation } from '../../core/request.ts'
import { forcesTool } from '../tool-choice.ts'
import { claudeOf } from './claude.ts'

export function isForcedInWords(request: Conversation): boolean {
  return forcesTool(request) && !claudeOf(request).takesForcedTool
}
