// The nodes of a simulated run: what a process remembers, what it has sent, and the items it makes of it.
import { NO_USAGE } from '../../src/core/events.ts'
import { HOLDS_PER_NODE } from '../../src/ledger/nodes/membership.ts'
import type { Batch, BatchResult, CheckedAsk, Item } from '../../src/ledger/rules/batch.ts'
import type { Charge } from '../../src/ledger/rules/rows.ts'
import type { Decided } from './memory-database.ts'
import type { InMemory, SqliteNode } from './memory-journal.ts'
import type { Rules } from './rules.ts'

export type Queued = { readonly item: Item; isRetry: boolean }

/** What a process remembers; all of it is lost when it crashes, except the spool. */
export type Node = {
  id: number
  holdCount: number
  state: 'up' | 'paused' | 'down'
  /** Was paused or down since it last beat: another node may take it for dead. */
  wasAway: boolean
  beatsMissed: number
  queue: Queued[]
  sent: Sent | undefined
  open: Map<number, { readonly ask: CheckedAsk; readonly amount: bigint; isEnding: boolean }>
  readonly spool: Map<number, Charge>
  detector: InstanceType<Rules['FailureDetector']>
  readonly clockSkewMs: number
  /** What its batches have left known; worthless behind another connection. */
  known: InstanceType<Rules['Known']>
  /** On SQLite: it decides in memory while it is alone. */
  journal: SqliteNode | undefined
}

/** unheard = the connection broke: the node cannot know whether the batch was committed. */
export type Sent = {
  readonly batch: Batch
  readonly items: readonly Queued[]
  /** Set if it was decided before it was sent. */
  readonly decided: Decided | undefined
  /** Set if it was decided in memory. */
  readonly inMemory?: InMemory | undefined
  reply?: BatchResult | 'unheard'
}

/** A batch of nobody: of a process that has died since, or of a command. */
export type Ghost = Pick<Sent, 'batch' | 'decided'> & Pick<Node, 'clockSkewMs'>

/** Each action happens as often as it is listed. */
export const ACTIONS = [
  ...times(10, 'ask'),
  ...times(8, 'send'),
  ...times(8, 'commit'),
  ...times(8, 'deliver'),
  ...times(7, 'end'),
  ...times(3, 'tick'),
  ...times(3, 'change'),
  'crash',
  'restart',
  'pause',
  'ghost',
  'outage',
  'clock',
  'administer',
  'sweep',
] as const

/** Of what ends a journal, or makes it wait for the database, less: batches in memory follow one another. */
export const ACTIONS_ON_SQLITE = [
  ...times(20, 'ask'),
  ...times(30, 'send'),
  ...times(50, 'commit'),
  ...times(30, 'deliver'),
  ...times(20, 'end'),
  ...times(6, 'change'),
  ...times(3, 'administer'),
  ...times(2, 'clock'),
  'tick',
  'crash',
  'pause',
  'outage',
  'sweep',
] as const

function times<Action extends string>(count: number, action: Action): readonly Action[] {
  return Array.from({ length: count }, () => action)
}

export const emptyCharge: Charge = {
  id: 0,
  requestId: '',
  keyId: '',
  groupId: null,
  endpoint: 'chat',
  modelAsked: 'm',
  modelServed: null,
  provider: null,
  status: 200,
  errorCode: null,
  ...NO_USAGE,
  inputTokens: 10,
  costNanodollars: 0n,
  priceVersion: null,
  estimated: false,
  latencyMs: 0,
  firstTokenMs: null,
  traceId: null,
  endUser: null,
  tags: '{}',
  attempts: '[]',
}

export function voidOf({ holdId, ask }: Extract<Item, { kind: 'reserve' }>): Item {
  const { keyId, groupId } = ask
  return { kind: 'void', keyId, groupId, holdId, reason: 'abandoned' }
}

export function nodeOf(holdId: number): number {
  return Math.floor(holdId / HOLDS_PER_NODE)
}
