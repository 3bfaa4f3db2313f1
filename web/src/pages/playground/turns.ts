// What was said in the playground: an answer grows with each event of its call, and only what the model said is told to it
// again. Pure.
import type { BodyOf } from '../../../../src/admin/contract/route.ts'
import type {
  CallResult,
  PlayEvent,
  playgroundRoutes,
  Progress,
} from '../../../../src/admin/contract/trial.ts'

export type Turn = {
  readonly role: 'user' | 'assistant'
  readonly content: string
  /** The call that an answer came from. */
  readonly call?: Call
}

export type Call = {
  readonly key: string
  readonly requestId?: string
  readonly firstTokenMs?: number
  /** As far as it has come. */
  readonly progress?: Progress
  readonly result?: CallResult
  readonly isStopped?: true
}

export type PlayBody = BodyOf<typeof playgroundRoutes.play>

export function changedLast(turns: readonly Turn[], to: (turn: Turn) => Turn): readonly Turn[] {
  const last = turns.at(-1)
  return last?.role === 'assistant' ? turns.with(-1, to(last)) : turns
}

/** An answer after the next event of its call. */
export function heard(answer: Turn, event: PlayEvent): Turn {
  const { content, call = { key: '' } } = answer
  switch (event.type) {
    case 'began':
      return { ...answer, call: { ...call, requestId: event.request_id } }
    case 'progress': {
      const hasBegun = call.firstTokenMs !== undefined || event.text === ''
      const first = hasBegun ? {} : { firstTokenMs: event.latency_ms }
      return {
        ...answer,
        content: content + event.text,
        call: { ...call, ...first, progress: event },
      }
    }
    case 'result':
      return { ...answer, content: event.text ?? content, call: { ...call, result: event } }
  }
}

export function stopped(answer: Turn): Turn {
  const { call } = answer
  return call === undefined || call.result
    ? answer
    : { ...answer, call: { ...call, isStopped: true } }
}

/** What the model is told of the conversation: a refusal is no answer of it, and silence is none. */
export function saidIn(turns: readonly Turn[]): PlayBody['messages'] {
  return turns
    .filter(({ content, call }) => content !== '' && call?.result?.passes !== false)
    .map(({ role, content }) => ({ role, content }))
}
