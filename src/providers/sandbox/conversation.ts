// The sandbox model itself: a request and its script in, the events of the answer out. The same request always gets
// the same answer, but for the ids of calls. Delays and transport failures are the provider's part.
import type { Format } from '../../core/endpoints.ts'
import type { GatewayError } from '../../core/errors.ts'
import { invalidRequest } from '../../core/errors.ts'
import type { CanonicalEvent, Usage } from '../../core/events.ts'
import { NO_USAGE } from '../../core/events.ts'
import { parseObject } from '../../core/json.ts'
import type { CanonicalRequest, Conversation } from '../../core/request.ts'
import type { Block, Choice } from './choices.ts'
import { eventsOf, limited, piecesOf, tokensOfBlock } from './choices.ts'
import { answerEmbedding } from './embeddings.ts'
import { contextOf, OUTPUT_TOKENS_MAX, reasonsFirst } from './models.ts'
import type { Prompt } from './prompt.ts'
import { readPrompt } from './prompt.ts'
import { instanceOf, StepBudget } from './schema-instance.ts'
import { readHints } from './schema-values.ts'
import type { Script } from './script.ts'
import { checkReasoning, opaqueOf, reasonAbout, stretched, textOf } from './text.ts'
import { assertRoom, countSandboxInput, firstTokens } from './tokens.ts'
import type { ToolCall } from './tool-calls.ts'
import { chooseCalls } from './tool-calls.ts'

type AnswerOptions = {
  readonly format: Format
  newCallId(): string
}

/**
 * The events of the answer, made as they are taken; if the script breaks it off, those before the break. Throws at once
 * if the request is refused.
 */
export function answer(
  request: CanonicalRequest,
  script: Script,
  options: AnswerOptions,
): Iterable<CanonicalEvent> {
  return request.kind === 'embedding'
    ? answerEmbedding(request, script)
    : answerConversation({ request, script, options, prompt: readPrompt(request) })
}

type Task = {
  readonly request: Conversation
  readonly script: Script
  readonly options: AnswerOptions
  readonly prompt: Prompt
}

/** One more than the output limit is enough to be cut there. */
const TOKENS_MAX = OUTPUT_TOKENS_MAX + 1
/** As many as real providers allow. */
const CHOICES_MAX = 128
/** Of one answer: one long choice with twenty alternatives per piece, or many short ones with ten. */
const PIECES_MAX = 80 * 1024

function answerConversation(task: Task): Iterable<CanonicalEvent> {
  const { request, options } = task
  const inputTokens = countSandboxInput(request)
  const roomTokens = contextOf(request.model) - inputTokens
  assertRoom(inputTokens, contextOf(request.model))
  if (request.choices > CHOICES_MAX) throw invalidRequest('n', `n must be at most ${CHOICES_MAX}`)
  checkReasoning(request, options.format)
  const content = contentFor(task)
  const { logprobs } = request.sampling
  const choices: Choice[] = []
  let pieces = 0
  for (let index = 0; index < request.choices; index++) {
    const whole = choiceOf(content, task, index)
    pieces += searchingOf(whole, request)
    if (pieces > PIECES_MAX) throw tooMuch(request)
    const choice = kept(whole, request, roomTokens)
    pieces += piecesOf(choice, logprobs)
    if (pieces > PIECES_MAX) throw tooMuch(request)
    choices.push(choice)
  }
  return eventsFor(choices, task, inputTokens)
}

function* eventsFor(
  choices: readonly Choice[],
  { request, script }: Task,
  inputTokens: number,
): Generator<CanonicalEvent> {
  const blocks = choices.flatMap((choice) => choice.blocks)
  const outputTokens = tokensOfBlocks(blocks)
  const reasoningTokens = tokensOfBlocks(blocks.filter(({ type }) => type === 'reasoning'))
  const brokenAt = script.cut ?? script.stall
  const isBroken = brokenAt !== undefined
  // Input usage comes before the start, for formats that report it in their first event.
  yield* usageEvents(script, { ...NO_USAGE, inputTokens })
  yield { type: 'response-start', id: 'sandbox', model: request.model }
  yield* interleaved(
    choices.map((choice, index) =>
      eventsOf(isBroken ? limited(choice, brokenAt, []) : choice, {
        choice: index,
        isBroken,
        logprobs: request.sampling.logprobs,
      }),
    ),
  )
  if (isBroken) return
  yield* usageEvents(script, { ...NO_USAGE, inputTokens, outputTokens, reasoningTokens })
  yield { type: 'response-end' }
}

function tooMuch({ choices, sampling: { logprobs } }: Conversation): GatewayError {
  const beside = logprobs === undefined ? '' : ` with ${logprobs} log probabilities`
  return invalidRequest(
    choices > 1 ? 'n' : 'stop',
    `${choices} answers of this length${beside} are more than the sandbox writes at once: ask for fewer or shorter ones`,
  )
}

/** What the model would say without limits. */
type Content = {
  readonly reasoning: readonly Block[]
  readonly calls: readonly ToolCall[]
  readonly text: string
  /** The text may be changed or stretched; false = it is the JSON that the client asked for. */
  readonly isFree: boolean
}

function contentFor(task: Task): Content {
  const { request, script, prompt } = task
  const budget = new StepBudget()
  const reasoning = reasoningFor(task)
  const calls = chooseCalls(request, prompt, { script, budget })
  const isFree =
    !prompt.wantsJson && request.outputFormat === undefined && prompt.fixed === undefined
  return {
    reasoning,
    calls,
    isFree,
    // What is longer than an answer is cut anyway, and not carried along in every choice.
    text: calls.length === 0 ? firstTokens(textFor(task, budget), TOKENS_MAX) : '',
  }
}

function choiceOf(content: Content, { script, options }: Task, index: number): Choice {
  const { reasoning, calls, text, isFree } = content
  if (calls.length > 0) {
    const called = calls.map(
      (call) => ({ type: 'tool-call', id: options.newCallId(), ...call }) as const,
    )
    return { blocks: [...reasoning, ...called], reason: 'tool-call' }
  }
  const own = isFree && index > 0 ? `Answer ${index + 1}: ${text}` : text
  const said =
    isFree && script.tokens !== undefined
      ? stretched(own, Math.min(script.tokens, TOKENS_MAX) - tokensOfBlocks(reasoning))
      : own
  return { blocks: [...reasoning, { type: 'text', text: said }], reason: 'stop' }
}

function reasoningFor({ request, script, options, prompt }: Task): readonly Block[] {
  // Like Claude, it does not reason unless a request in this format asks for it.
  if (!reasonsFirst(request.model) || request.hidesReasoning === true) return []
  // At least half of a short answer is left for the answer itself.
  const tokensMax = Math.min(
    request.reasoning?.tokensMax ?? Infinity,
    Math.floor((script.tokens ?? Infinity) / 2),
  )
  const text = firstTokens(reasonAbout(request, prompt), tokensMax)
  if (text === '') return []
  const isShown = request.reasoning?.display !== 'omitted'
  return [{ type: 'reasoning', text, isShown, opaque: opaqueOf(text, options.format) }]
}

function textFor({ request, prompt, options }: Task, budget: StepBudget): string {
  const { outputFormat } = request
  if (outputFormat?.type === 'json-schema') {
    const heard = [prompt.text, ...prompt.results.map((result) => result.text)].join('\n')
    const filled = instanceOf(outputFormat.schema, {
      hints: readHints(heard),
      budget,
      param: SCHEMA_PARAMS[options.format],
      what: 'the schema of the answer',
    })
    return JSON.stringify(filled)
  }
  const said = textOf(prompt)
  if (outputFormat === undefined && !prompt.wantsJson) return said
  return parseObject(said) === undefined ? JSON.stringify({ answer: said }) : said
}

/** Where a request has the schema of its answer. */
const SCHEMA_PARAMS: Readonly<Record<Format, string>> = {
  chat: 'response_format',
  responses: 'text.format',
  messages: 'output_config.format',
  embeddings: '',
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

/** What looking for stop sequences costs, as pieces: each may be compared with every part of the text. */
function searchingOf({ blocks }: Choice, { sampling: { stop = [] } }: Conversation): number {
  const characters = stop.reduce((sum, sequence) => sum + sequence.length + 1, 0)
  const length = blocks.reduce((sum, block) => sum + tokensOfBlock(block), 0)
  return (characters * length) / 256
}

function usageEvents(script: Script, usage: Usage): readonly CanonicalEvent[] {
  return script.usage === 'none' ? [] : [{ type: 'usage', usage }]
}

/** One event of each choice after the other, so that several choices grow side by side. */
function* interleaved(choices: readonly Generator<CanonicalEvent>[]): Generator<CanonicalEvent> {
  for (let open = choices; open.length > 0;) {
    const next: Generator<CanonicalEvent>[] = []
    for (const events of open) {
      const { done, value } = events.next()
      if (done === true) continue
      yield value
      next.push(events)
    }
    open = next
  }
}

function tokensOfBlocks(blocks: readonly Block[]): number {
  return blocks.reduce((total, block) => total + tokensOfBlock(block), 0)
}
