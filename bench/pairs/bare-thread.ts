// The thread of the bare ledger: one transaction per batch, with the rows that Tollgate's batch would write.
import { DatabaseSync } from 'node:sqlite'
import type { StatementSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { NO_USAGE } from '../../src/core/events.ts'
import { settledRow } from '../../src/ledger/rules/decide.ts'
import {
  HOLD,
  ROLLUP,
  ROLLUP_KEYS,
  USAGE,
  type Charge,
  type Hold,
  type Rollup,
  type RollupSpan,
  type UsageRow,
} from '../../src/ledger/rules/rows.ts'
import { FRAME_ID } from '../../src/store/database/tables.ts'
import type { BareItem } from './bare.ts'
import type { PairsTask } from './loops.ts'

const HELD = 162_400n
const COST = 43_000n
const ATTEMPTS = JSON.stringify([
  { target: 'local/constant', why: 'first choice', outcome: 'answered', durationMs: 10 },
])

const { database } = workerData as PairsTask
const db = new DatabaseSync(database.replace(/^sqlite:/, ''))
db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
const begin = db.prepare('BEGIN IMMEDIATE')
const commit = db.prepare('COMMIT')
const insertHold = insert('holds', HOLD.names)
const deleteHold = db.prepare('DELETE FROM holds WHERE id = ?')
const insertUsage = insert('usage', USAGE.names)
const sums = ROLLUP.names.slice(ROLLUP_KEYS).map((name) => `${name} = ${name} + excluded.${name}`)
const addRollup = insert('rollups', ROLLUP.names, `ON CONFLICT DO UPDATE SET ${sums.join(', ')}`)
const updateAccount = db.prepare(
  `UPDATE accounts SET spent_nanodollars = spent_nanodollars + ?, held_nanodollars = held_nanodollars + ?,
   in_flight = in_flight + ? WHERE id = ?`,
)

/** What a batch adds to one account. */
type Sums = { held: number; settled: number }

parentPort?.on('message', (text: string) => {
  begin.run()
  writeBatch(JSON.parse(text) as readonly BareItem[], Date.now())
  commit.run()
  parentPort?.postMessage(null)
})

function writeBatch(items: readonly BareItem[], now: number): void {
  const frame: Sums = { held: 0, settled: 0 }
  const accounts = new Map<string, Sums>([[FRAME_ID, frame]])
  for (const item of items) {
    const [id, keyId, , isSettlement] = item
    let key = accounts.get(keyId)
    if (key === undefined) accounts.set(keyId, (key = { held: 0, settled: 0 }))
    if (isSettlement) {
      key.settled++
      frame.settled++
      deleteHold.run(id)
      insertUsage.run(...USAGE.write(usageOf(item, now)))
    } else {
      key.held++
      frame.held++
      insertHold.run(...HOLD.write(holdOf(item, now)))
    }
  }
  for (const [id, { held, settled }] of accounts) {
    const change = held - settled
    updateAccount.run(BigInt(settled) * COST, BigInt(change) * HELD, change, id)
    if (settled === 0) continue
    for (const span of ['hour', 'day'] as const) {
      addRollup.run(...ROLLUP.write(rollupOf(span, id, settled)))
    }
  }
}

function holdOf([id, keyId, requestId]: BareItem, now: number): Hold {
  return {
    id,
    requestId,
    keyId,
    groupId: null,
    modelAsked: 'bench-chat',
    keyPeriod: 1,
    keyWindow: null,
    modelCap: null,
    groupPeriod: null,
    groupWindow: null,
    framePeriod: 1,
    frameWindow: null,
    heldNanodollars: HELD,
    outputTokens: 256,
    capped: false,
    estimatedTokens: 1_200,
    at: now,
    endpoint: 'chat',
  }
}

function usageOf(item: BareItem, now: number): UsageRow {
  const [id, keyId, requestId] = item
  return settledRow({ ...CHARGE, id, requestId, keyId }, holdOf(item, now), now)
}

const CHARGE: Omit<Charge, 'id' | 'requestId' | 'keyId'> = {
  ...NO_USAGE,
  groupId: null,
  costNanodollars: COST,
  priceVersion: null,
  endpoint: 'chat',
  modelAsked: 'bench-chat',
  modelServed: 'constant',
  provider: 'local',
  status: 200,
  errorCode: null,
  inputTokens: 60,
  outputTokens: 100,
  estimated: false,
  latencyMs: 12,
  firstTokenMs: 11,
  traceId: null,
  endUser: null,
  tags: '{}',
  attempts: ATTEMPTS,
}

/** What the settlements of a batch add up to. */
function rollupOf(span: RollupSpan, keyId: string, settled: number): Rollup {
  return {
    span,
    startsAt: 0,
    keyId,
    model: 'bench-chat',
    groupId: '',
    provider: 'local',
    endpoint: 'chat',
    requests: settled,
    failed: 0,
    refused: 0,
    estimated: 0,
    inputTokens: settled * 60,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: settled * 100,
    reasoningTokens: 0,
    cost: BigInt(settled) * COST,
  }
}

function insert(table: string, columns: readonly string[], otherwise = ''): StatementSync {
  const places = columns.map(() => '?').join(', ')
  return db.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places}) ${otherwise}`)
}
