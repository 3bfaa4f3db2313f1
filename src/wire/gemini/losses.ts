// What Gemini cannot be sent.
import type { Conversation } from '../../core/request.ts'
import { unenforcedInAnswer } from '../content/schemas.ts'
import type { Losses } from '../contract/losses.ts'
import { drop, foreignThinking, refuse, usual, usualBut } from '../contract/losses.ts'
import { asksForThinking, asksNotToThink } from '../models/effort.ts'
import { geminiOf, takesUrl } from '../models/gemini.ts'

const URLS = 'Gemini before 2.5 takes nothing by URL, and no model a film'
const NO_SETTING = { why: 'its models have no such setting' }

/** Of schemas, beyond those of other formats: Gemini is sent schemas as they are and ignores what it does not know. */
const KEYWORDS: ReadonlySet<string> = new Set(
  'additionalProperties format maximum maxItems minimum minItems oneOf'.split(' '),
)

export const GEMINI_LOSSES: Losses = {
  ...usual('choices', 'logit_bias', 'logprobs', 'verbosity', 'metadata', 'cache_key'),
  ...usual('cache_marks', 'end_user', 'participant_name', 'image_detail', 'single_tool_call'),
  ...usual('strict_tool', 'tool_input_format', 'schema_name'),
  ...usualBut('frequency_penalty', NO_SETTING),
  ...usualBut('presence_penalty', NO_SETTING),
  ...foreignThinking('gemini'),
  stop_beyond_five: refuse(
    'at most five stop sequences can be sent',
    ({ sampling }) => (sampling.stop?.length ?? 0) > 5,
  ),
  image_url: refuse(URLS, (request) => hasUnreachable('image', request)),
  file_url: refuse(URLS, (request) => hasUnreachable('file', request)),
  effort_beside_budget: drop(
    'a thinking budget is sent instead',
    ({ reasoning }) => reasoning?.effort !== undefined && reasoning.tokensMax !== undefined,
  ),
  ...usualBut('reasoning', {
    isUsed: (request) => asksForThinking(request) && !geminiOf(request).thinks,
  }),
  ...usualBut('thinking_off', {
    isUsed: (request) => asksNotToThink(request) && mayThink(request),
  }),
  ...usualBut('unasked_thoughts', {
    isUsed: (request) => request.hidesThoughts === true && mayThink(request),
  }),
  schema_constraints: drop('no model is bound to it', (request) =>
    unenforcedInAnswer(request).filter((keyword) => !KEYWORDS.has(keyword)),
  ),
}

function mayThink(request: Conversation): boolean {
  const { thinks, takesDisabled } = geminiOf(request)
  return thinks && !(asksNotToThink(request) && takesDisabled)
}

/** Whether something is at a URL from which the model would have to fetch it, and does not. */
function hasUnreachable(type: 'image' | 'file', { model, messages }: Conversation): boolean {
  return messages.some(({ parts }) =>
    parts.some(
      (part) =>
        part.type === type && part.source.type === 'url' && !takesUrl(model, part.source.url),
    ),
  )
}
