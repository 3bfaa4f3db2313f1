// Turns what the sandbox wants to say into canonical events: cut at the token limit and at stop sequences, counted,
// and divided into small pieces as a model would send them.
import type { CanonicalEvent, FinishReason, TokenLogprob } from '../../core/events.ts'
import type { OpaqueReasoning } from '../../core/request.ts'
import { firstTokens, tokensOf, tokensOfCall } from './tokens.ts'
import type { ToolCall } from './tool-calls.ts'

export type Block =
  | {
      readonly type: 'reasoning'
      readonly text: string
      readonly isShown: boolean
      readonly opaque?: OpaqueReasoning
    }
  | { readonly type: 'text'; readonly text: string }
  | (ToolCall & { readonly type: 'tool-call'; readonly id: string })

export type Choice = {
  readonly blocks: readonly Block[]
  readonly reason: FinishReason
  readonly stopSequence?: string
}

/** The blocks up to the first stop sequence or the token limit, whichever comes first. */
export function limited(choice: Choice, tokensMax: number, stop: readonly string[]): Choice {
  const blocks: Block[] = []
  let left = tokensMax
  for (const block of choice.blocks) {
    const stopped = block.type === 'text' ? stopAt(block, stop) : undefined
    const whole = stopped?.block ?? block
    const said = shortened(whole, left)
    if (said !== undefined) blocks.push(said)
    if (said !== whole) return { blocks, reason: 'limit' }
    left -= tokensOfBlock(said)
    if (stopped !== undefined) return { blocks, reason: 'stop', stopSequence: stopped.sequence }
  }
  return { ...choice, blocks }
}

type TextBlock = Extract<Block, { type: 'text' }>

function stopAt(
  block: TextBlock,
  stop: readonly string[],
): { readonly block: TextBlock; readonly sequence: string } | undefined {
  const [first] = stop
    .map((sequence) => ({ sequence, at: sequence === '' ? -1 : block.text.indexOf(sequence) }))
    .filter(({ at }) => at >= 0)
    .toSorted((one, other) => one.at - other.at)
  if (first === undefined) return undefined
  return { block: { type: 'text', text: block.text.slice(0, first.at) }, sequence: first.sequence }
}

/** The beginning of a block, of at most so many tokens; the block itself if all of it fits. */
function shortened(block: Block, tokensMax: number): Block | undefined {
  if (tokensOfBlock(block) <= tokensMax) return block
  if (block.type === 'tool-call') {
    const left = tokensMax - tokensOf(block.name)
    return left < 0 ? undefined : { ...block, input: firstTokens(block.input, left) }
  }
  if (tokensMax === 0) return undefined
  const text = firstTokens(block.text, tokensMax)
  // Unfinished reasoning is not signed.
  return block.type === 'text'
    ? { type: 'text', text }
    : { type: 'reasoning', text, isShown: block.isShown }
}

export function tokensOfBlock(block: Block): number {
  return block.type === 'tool-call' ? tokensOfCall(block.name, block.input) : tokensOf(block.text)
}

type Delivery = {
  readonly choice: number
  /** The answer breaks off: neither its last block nor the choice gets an end event. */
  readonly isBroken: boolean
  /** How many alternatives to report with each piece of text; undefined = no log probabilities, not even its own. */
  readonly logprobs: number | undefined
}

/** Made one by one, as they are sent: a long answer with probabilities is large. */
export function* eventsOf(
  { blocks, reason, stopSequence }: Choice,
  delivery: Delivery,
): Generator<CanonicalEvent> {
  const { choice, isBroken } = delivery
  for (const [index, block] of blocks.entries()) {
    const position = { choice, block: index }
    yield* blockEvents(block, position, delivery)
    if (!isBroken || index < blocks.length - 1) yield endOf(block, position)
  }
  if (isBroken) return
  const told = stopSequence === undefined ? {} : { stopSequence }
  yield { type: 'choice-end', choice, reason, ...told }
}

/** How many pieces an answer has, each alternative of a piece counted, too. */
export function piecesOf({ blocks }: Choice, logprobs: number | undefined): number {
  const each = logprobs === undefined ? 1 : 2 + logprobs
  let sum = 0
  for (const block of blocks) {
    if (block.type === 'text') sum += each * pieces(block.text).length
    else sum += pieces(block.type === 'reasoning' ? block.text : block.input).length
  }
  return sum
}

type BlockPosition = { readonly choice: number; readonly block: number }

function* blockEvents(
  block: Block,
  position: BlockPosition,
  { logprobs }: Delivery,
): Generator<CanonicalEvent> {
  switch (block.type) {
    case 'text':
      yield { type: 'text-start', ...position }
      for (const text of pieces(block.text)) {
        const told = logprobs === undefined ? {} : { logprobs: [logprobOf(text, logprobs)] }
        yield { type: 'text-delta', ...position, text, ...told }
      }
      break
    case 'reasoning':
      yield { type: 'reasoning-start', ...position }
      for (const text of block.isShown ? pieces(block.text) : []) {
        yield { type: 'reasoning-delta', ...position, text }
      }
      break
    case 'tool-call': {
      const { id, name, custom } = block
      yield { type: 'tool-call-start', ...position, id, name, custom }
      for (const text of pieces(block.input)) yield { type: 'tool-call-delta', ...position, text }
    }
  }
}

function endOf(block: Block, position: BlockPosition): CanonicalEvent {
  switch (block.type) {
    case 'text':
      return { type: 'text-end', ...position }
    case 'reasoning':
      return { type: 'reasoning-end', ...position, ...(block.opaque && { opaque: block.opaque }) }
    case 'tool-call':
      return { type: 'tool-call-end', ...position }
  }
}

/** Word by word, each with the space before it; long words, like JSON, in smaller pieces. */
function pieces(text: string): readonly string[] {
  return text.match(/\s*\S{1,20}|\s+$/gu) ?? []
}

/** Made up, but always the same for the same piece: an earlier alternative is likelier. */
function logprobOf(token: string, alternatives: number): TokenLogprob {
  const known = (text: string, rank: number) => ({
    token: text,
    logprob: -0.1 - rank,
    bytes: [...Buffer.from(text)],
  })
  const top = Array.from({ length: alternatives }, (_, rank) =>
    known(rank === 0 ? token : `${token}${rank}`, rank),
  )
  return { ...known(token, 0), top }
}
