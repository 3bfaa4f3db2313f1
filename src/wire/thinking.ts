// Whether a model can be asked to think, and whether its thinking can be turned off.
import type { TargetFormat } from '../core/endpoints.ts'
import { canBeKeptFromThinking, canBeToldEffort } from './converse/request-encode.ts'
import type { Thinker } from './effort.ts'
import { asksForThinking, effortOf, isPlain, toldEffort } from './effort.ts'
import { geminiOf } from './gemini/generation.ts'
import { claudeOf } from './messages/claude.ts'
import { openAiOf } from './openai.ts'

/** Whether a request for thinking, or for a certain effort, has no effect on the model. */
export function isDeafToEffort(thinker: Thinker, format: TargetFormat): boolean {
  if (!asksForThinking(thinker)) return false
  switch (format) {
    case 'chat':
    case 'responses': {
      const asked = effortOf(thinker.reasoning)
      return isPlain(thinker) || (asked !== undefined && toldEffort(thinker) === undefined)
    }
    case 'messages':
      return !claudeOf(thinker).thinks
    case 'gemini':
      return !geminiOf(thinker).thinks
    case 'converse':
      return !canBeToldEffort(thinker.model)
  }
}

/** Whether a model may think, although nothing says that it must. */
export function mayThink(thinker: Thinker, format: TargetFormat): boolean {
  if (thinker.reasoning?.effort === 'none') return thinksAnyway(thinker, format)
  if (thinker.nature?.reasons === false) return false
  switch (format) {
    case 'chat':
    case 'responses':
      if (isPlain(thinker)) return false
      return asksForThinking(thinker) || (openAiOf(thinker)?.reasonsUnasked ?? true)
    case 'messages':
      return asksForThinking(thinker) && claudeOf(thinker).thinks
    case 'gemini':
      return geminiOf(thinker).thinks
    case 'converse':
      return thinker.nature?.reasons === true || canBeToldEffort(thinker.model)
  }
}

/** Whether a model that is asked not to think may think anyway. */
export function thinksAnyway(thinker: Thinker, format: TargetFormat): boolean {
  if (thinker.reasoning?.effort !== 'none' || thinker.nature?.reasons === false) return false
  switch (format) {
    case 'chat':
    case 'responses':
      return !isPlain(thinker) && toldEffort(thinker) !== 'none'
    case 'messages': {
      const { thinks, takesDisabled } = claudeOf(thinker)
      return thinks && !takesDisabled
    }
    case 'gemini': {
      const { thinks, takesDisabled } = geminiOf(thinker)
      return thinks && !takesDisabled
    }
    case 'converse':
      return !canBeKeptFromThinking(thinker.model)
  }
}
