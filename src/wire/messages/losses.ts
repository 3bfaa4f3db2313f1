// What a messages provider, and each of its Claude models, cannot be sent.
import type { Conversation, FilePart } from '../../core/request.ts'
import { cacheMarksIn } from '../../core/request.ts'
import { isTextType } from '../content/media.ts'
import { unenforcedIn, unenforcedInAnswer } from '../content/schemas.ts'
import type { Losses } from '../contract/losses.ts'
import {
  differs,
  drop,
  foreignThinking,
  hasPart,
  refuse,
  usual,
  usualBut,
} from '../contract/losses.ts'
import { claudeOf } from '../models/claude.ts'
import { asksForThinking, asksNotToThink } from '../models/effort.ts'
import { CACHE_MARKS_MAX, hindranceOf, thinksAsAsked } from './request-encode.ts'
import { isForcedInWords } from './tools.ts'

const NEWER_CLAUDE = 'Opus since 4.7 and all others since 5 take none'
const DESCRIBED = 'no model is bound to it; it is in the description instead'

export const MESSAGES_LOSSES: Losses = {
  ...usual('choices', 'temperature_above_one', 'frequency_penalty', 'presence_penalty', 'seed'),
  ...usual('logit_bias', 'logprobs', 'verbosity', 'metadata', 'cache_key', 'participant_name'),
  ...usual('audio', 'image_detail', 'tool_input_format', 'schema_name'),
  ...foreignThinking('messages'),
  blank_stop: refuse('a stop sequence must contain more than white space', ({ sampling }) =>
    (sampling.stop ?? []).some((text) => text.trim() === ''),
  ),
  temperature_while_thinking: drop(
    'a model that thinks chooses its own temperature',
    (request) => differs(request.sampling.temperature, 1) && thinksAsAsked(request),
  ),
  top_p_while_thinking: drop(
    'a model that thinks chooses its own sampling',
    (request) => differs(request.sampling.topP, 1) && thinksAsAsked(request),
  ),
  top_p_beside_temperature: drop(
    'only one of temperature and top_p can be set',
    ({ sampling }) => differs(sampling.topP, 1) && sampling.temperature !== undefined,
  ),
  temperature_of_newer_claude: drop(
    NEWER_CLAUDE,
    (request) => differs(request.sampling.temperature, 1) && !claudeOf(request).takesSampling,
  ),
  top_p_of_newer_claude: drop(
    NEWER_CLAUDE,
    (request) => differs(request.sampling.topP, 1) && !claudeOf(request).takesSampling,
  ),
  cache_marks_beyond_four: drop(
    'the last four are sent, which cover the most',
    (request) => cacheMarksIn(request) > CACHE_MARKS_MAX,
  ),
  file_beyond_pdf: refuse(
    'only PDF and text files can be read',
    hasPart((part) => part.type === 'file' && !isPdfOrText(part)),
  ),
  forced_tool: drop(
    'Opus and Sonnet since 5.5 and Fable since 5.1 are told in words',
    isForcedInWords,
  ),
  thinking_before_forced_tool: drop(
    'a model that must call a tool cannot think first',
    (request) => hindranceIn(request) === 'forced tool',
  ),
  thinking_within_small_limit: drop(
    'Claude before 4.6 thinks only within more than 1,024 tokens',
    (request) => hindranceIn(request) === 'small limit',
  ),
  thinking_in_unthinking_turn: drop(
    'Claude before 4.6 thinks after a call only if it thought before it',
    (request) => hindranceIn(request) === 'unthinking turn',
  ),
  ...usualBut('reasoning', {
    isUsed: (request) => asksForThinking(request) && !claudeOf(request).thinks,
  }),
  ...usualBut('thinking_off', { isUsed: thinksAnyway }),
  schema_constraints: drop(DESCRIBED, unenforcedInAnswer),
  tool_constraints: drop(DESCRIBED, ({ tools }) =>
    tools.flatMap((tool) =>
      tool.type === 'function' && tool.strict === true ? unenforcedIn(tool.schema) : [],
    ),
  ),
}

const hindrances = new WeakMap<Conversation, { readonly is: ReturnType<typeof hindranceOf> }>()

/** Found once for all three: it may have to encode all turns. */
function hindranceIn(request: Conversation): ReturnType<typeof hindranceOf> {
  const known = hindrances.get(request) ?? { is: hindranceOf(request) }
  hindrances.set(request, known)
  return known.is
}

function thinksAnyway(request: Conversation): boolean {
  const { thinks, takesDisabled } = claudeOf(request)
  return asksNotToThink(request) && thinks && !takesDisabled
}

/** Whether a file can be a document of the format: a PDF, or any kind of text. */
function isPdfOrText({ source }: FilePart): boolean {
  if (source.type !== 'base64' || source.mediaType === 'application/pdf') return true
  return isTextType(source.mediaType)
}
