// The sandbox model itself: a request and its script in, the events of the answer out. Pure: the same request always
// gets the same answer. Delays and transport failures are the provider's part.
import type { Format } from '../../core/endpoints.ts'
import { GatewayError, invalidRequest } from '../../core/errors.ts'
import type { CanonicalEvent, Usage } from '../../core/events.ts'
import { NO_USAGE } from '../../core/events.ts'
import type { CanonicalRequest, Conversation, EmbeddingRequest } from '../../core/request.ts'
import type { Block, Choice } from './answer.ts'
import { eventsOf, limited, tokensOfBlock } from './answer.ts'
import { DIMENSIONS, embed } from './embed.ts'
import { readHints } from './hints.ts'
import { contextOf, OUTPUT_TOKENS_MAX, thinksFirst } from './models.ts'
import { instanceOf } from './schema-instance.ts'
import type { Script } from './script.ts'
import { speak, stretched } from './speech.ts'
import { checkSeals, sealThought, thinkAbout } from './thoughts.ts'
import { countSandboxInput, firstTokens, tokensOfEmbedded } from './tokens.ts'
import type { ToolCall } from './tool-calls.ts'
import { chooseCalls } from './tool-calls.ts'
import type { Turn } from './turn.ts'
import { turnOf } from './turn.ts'

/** All events of the answer; if the script breaks it off, those before the break. */
export function answer(
  request: CanonicalRequest,
  script: Script,
  format: Format,
): readonly CanonicalEvent[] {
  return request.kind === 'embedding'
    ? answerEmbedding(request, script)
    : answerConversation({ request, script, format, turn: turnOf(request) })
}

type Question = {
  readonly request: Conversation
  readonly script: Script
  readonly format: Format
  readonly turn: Turn
}

/** One more than the output limit is enough to be cut there. */
const TOKENS_MAX = OUTPUT_TOKENS_MAX + 1
/** As many as real providers allow. */
const CHOICES_MAX = 128

function answerConversation(question: Question): readonly CanonicalEvent[] {
  const { request, script, format } = question
  const inputTokens = countSandboxInput(request)
  const roomTokens = contextOf(request.model) - inputTokens
  if (roomTokens < 0) throw tooLong(inputTokens, contextOf(request.model))
  if (request.choices > CHOICES_MAX) throw invalidRequest('n', `n must be at most ${CHOICES_MAX}`)
  checkSeals(request, format)
  const content = contentFor(question)
  const choices = Array.from({ length: request.choices }, (_, index) =>
    kept(choiceOf(content, script, index), request, roomTokens),
  )
  const blocks = choices.flatMap((choice) => choice.blocks)
  const outputTokens = tokensOfBlocks(blocks)
  const reasoningTokens = tokensOfBlocks(blocks.filter(({ type }) => type === 'thinking'))
  const brokenAt = script.cut ?? script.stall
  const isBroken = brokenAt !== undefined
  const events = choices.map((choice, index) => {
    const said = isBroken ? limited(choice, brokenAt, []) : choice
    return eventsOf(said, { choice: index, isBroken, logprobs: request.sampling.logprobs })
  })
  return [
    // Input usage comes before the start, for formats that report it in their first event.
    ...usageEvents(script, { ...NO_USAGE, inputTokens }),
    { type: 'response-start', id: 'sandbox', model: request.model },
    ...interleaved(events),
    ...(isBroken
      ? []
      : usageEvents(script, { ...NO_USAGE, inputTokens, outputTokens, reasoningTokens })),
    ...(isBroken ? [] : [{ type: 'response-end' } as const]),
  ]
}

function tooLong(tokens: number, tokensMax: number): GatewayError {
  return new GatewayError(
    'invalid_request',
    `prompt is too long: ${tokens} tokens, and at most ${tokensMax} can be read`,
    { provider: { status: 400, code: 'context_length_exceeded' } },
  )
}

/** What the model would say without limits. */
type Content = {
  readonly thinking: readonly Block[]
  readonly calls: readonly ToolCall[]
  readonly text: string
  /** The text may be changed or stretched; false = it is the JSON that the client asked for. */
  readonly isFree: boolean
}

function contentFor(question: Question): Content {
  const { request, script, turn } = question
  const thinking = thinkingFor(question)
  const calls = chooseCalls(request, turn, script)
  const isFree = request.outputFormat === undefined
  return { thinking, calls, isFree, text: calls.length === 0 ? textFor(request, turn) : '' }
}

function choiceOf(
  { thinking, calls, text, isFree }: Content,
  script: Script,
  index: number,
): Choice {
  if (calls.length > 0) {
    const called = calls.map((call) => ({ type: 'tool-call', ...call }) as const)
    return { blocks: [...thinking, ...called], reason: 'tool-call' }
  }
  const own = isFree && index > 0 ? `Answer ${index + 1}: ${text}` : text
  const said =
    isFree && script.tokens !== undefined
      ? stretched(own, Math.min(script.tokens, TOKENS_MAX) - tokensOfBlocks(thinking))
      : own
  return { blocks: [...thinking, { type: 'text', text: said }], reason: 'stop' }
}

function thinkingFor({ request, script, format, turn }: Question): readonly Block[] {
  if (!thinksFirst(request.model)) return []
  // At least half of a short answer is left for the answer itself.
  const tokensMax = Math.min(
    request.reasoning?.tokensMax ?? Infinity,
    Math.floor((script.tokens ?? Infinity) / 2),
  )
  const text = firstTokens(thinkAbout(request, turn), tokensMax)
  if (text === '') return []
  const isShown = request.reasoning?.display !== 'omitted'
  return [{ type: 'thinking', text, isShown, seal: sealThought(text, format) }]
}

function textFor({ outputFormat }: Conversation, turn: Turn): string {
  if (outputFormat === undefined) return speak(turn)
  if (outputFormat.type === 'json') return JSON.stringify({ answer: speak(turn) })
  const heard = [turn.text, ...turn.results.map((result) => result.text)].join('\n')
  return JSON.stringify(instanceOf(outputFormat.schema, readHints(heard)))
}

/** The choice, cut to the output limit, the room left in the context, and the stop sequences. */
function kept(choice: Choice, request: Conversation, roomTokens: number): Choice {
  const tokensMax = Math.min(request.outputTokensMax ?? OUTPUT_TOKENS_MAX, OUTPUT_TOKENS_MAX)
  const stop = request.sampling.stop ?? []
  const whole = limited(choice, Math.min(tokensMax, roomTokens), stop)
  return whole.reason === 'limit' && roomTokens < tokensMax
    ? { ...whole, reason: 'context' }
    : whole
}

const DIMENSIONS_MAX = 4096
/** For all inputs together, about as much as real providers accept. */
const EMBEDDING_TOKENS_MAX = 300_000

function answerEmbedding(request: EmbeddingRequest, script: Script): readonly CanonicalEvent[] {
  for (const tokens of request.inputs.map(tokensOfEmbedded)) {
    if (tokens > contextOf(request.model)) throw tooLong(tokens, contextOf(request.model))
  }
  const inputTokens = countSandboxInput(request)
  if (inputTokens > EMBEDDING_TOKENS_MAX) throw tooLong(inputTokens, EMBEDDING_TOKENS_MAX)
  const dimensions = request.dimensions ?? DIMENSIONS
  if (dimensions > DIMENSIONS_MAX) {
    throw invalidRequest('dimensions', `dimensions must be at most ${DIMENSIONS_MAX}`)
  }
  return [
    { type: 'response-start', id: 'sandbox', model: request.model },
    ...request.inputs.map(
      (input, index) => ({ type: 'embedding', index, vector: embed(input, dimensions) }) as const,
    ),
    ...usageEvents(script, { ...NO_USAGE, inputTokens }),
    { type: 'response-end' },
  ]
}

function usageEvents(script: Script, usage: Usage): readonly CanonicalEvent[] {
  return script.usage === 'none' ? [] : [{ type: 'usage', usage }]
}

/** One event of each choice in turn, so that several choices grow side by side. */
function interleaved(choices: readonly (readonly CanonicalEvent[])[]): readonly CanonicalEvent[] {
  const longest = Math.max(...choices.map((events) => events.length))
  return Array.from({ length: longest }, (_, index) =>
    choices.flatMap((events) => events[index] ?? []),
  ).flat()
}

function tokensOfBlocks(blocks: readonly Block[]): number {
  return blocks.reduce((total, block) => total + tokensOfBlock(block), 0)
}
