// What was received so far, and the provider's usage once it is known: everything the bill is made from. Counts before
// anything is passed on, so cutting a stream early saves nothing.
import type { Clock } from '../core/clock.ts'
import type { CanonicalEvent, Usage } from '../core/events.ts'

export class Meter {
  /** The provider's latest totals. */
  usage: Usage | undefined
  /** Whether those totals came after all of the output: earlier ones leave out what followed. */
  isCounted = false
  /** UTF-8 bytes of everything the model wrote: text, thoughts, tool calls. */
  outputBytes = 0
  /** In how many pieces that came: a provider streams whole tokens, so there are at least as many. */
  outputPieces = 0
  /** The web searches seen so far. */
  searches = 0
  /** Whether the provider marked its answer as complete. */
  isComplete = false
  /** When the model's first output came, in milliseconds of the monotonic clock. */
  firstOutputMs: number | undefined

  /** Whether the model produced anything: received here, or counted by the provider. */
  get hasOutput(): boolean {
    return this.outputBytes > 0 || (this.usage?.outputTokens ?? 0) > 0
  }

  see(event: CanonicalEvent, clock: Pick<Clock, 'monotonicMs'>): void {
    switch (event.type) {
      case 'text-delta':
      case 'refusal-delta':
      case 'thinking-delta':
      case 'tool-call-delta':
        this.#output(event.text, clock)
        break
      case 'tool-call-start':
        this.#output(event.name, clock)
        break
      case 'thinking-end':
        // A redacted thought is billed like a visible one, and only its seal is visible.
        if (event.seal?.kind === 'redacted') this.#output(event.seal.value, clock)
        break
      case 'usage':
        this.usage = event.usage
        this.isCounted = true
        break
      case 'search':
        this.searches += 1
        break
      case 'response-end':
        this.isComplete = true
        break
      case 'response-start':
      case 'text-start':
      case 'text-citation':
      case 'text-end':
      case 'refusal-start':
      case 'refusal-end':
      case 'thinking-start':
      case 'tool-call-end':
      case 'choice-end':
      case 'citations-lost':
      case 'embedding':
      case 'ping':
        break
    }
  }

  #output(text: string, clock: Pick<Clock, 'monotonicMs'>): void {
    this.outputBytes += Buffer.byteLength(text)
    if (text !== '') this.outputPieces += 1
    this.isCounted = false
    this.firstOutputMs ??= clock.monotonicMs()
  }
}
