// The thread of the bare ledger: one transaction per batch, with the rows that Tollgate's batch would write.
import { DatabaseSync } from 'node:sqlite'
import type { StatementSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { HOLD, ROLLUP, ROLLUP_KEYS, USAGE } from '../../src/ledger/rules/rows.ts'
import { FRAME_ID } from '../../src/store/database/tables.ts'
import type { BareItem } from './bare.ts'
import type { PairsTask } from './loops.ts'

const HELD = 162_400
const COST = 43_000
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
    const [id, keyId, requestId, isSettlement] = item
    let key = accounts.get(keyId)
    if (key === undefined) accounts.set(keyId, (key = { held: 0, settled: 0 }))
    if (isSettlement) {
      key.settled++
      frame.settled++
      deleteHold.run(id)
      insertUsage.run(...usageOf(item, now))
    } else {
      key.held++
      frame.held++
      insertHold.run(id, requestId, keyId, 1, 1, HELD, 256, 0, 1_200, now, 'chat', 'bench-chat')
    }
  }
  for (const [id, { held, settled }] of accounts) {
    const change = held - settled
    updateAccount.run(settled * COST, change * HELD, change, id)
    if (settled === 0) continue
    for (const span of ['hour', 'day']) {
      const tokens = [settled * 60, 0, 0, settled * 100, 0]
      addRollup.run(span, 0, id, 'bench-chat', settled, 0, 0, 0, ...tokens, settled * COST)
    }
  }
}

function usageOf(
  [id, keyId, requestId]: BareItem,
  now: number,
): readonly (string | number | null)[] {
  const names = [id, requestId, keyId, COST, null]
  const place = ['chat', 'bench-chat', 'constant', 'local', 200, null]
  const tokens = [60, 0, 0, 0, 100, 0]
  const more = [0, 12, 11, null, '{}', ATTEMPTS]
  return [...names, ...place, ...tokens, ...more, 'settled', 1, 1, HELD, now, now]
}

function insert(table: string, columns: readonly string[], otherwise = ''): StatementSync {
  const places = columns.map(() => '?').join(', ')
  return db.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places}) ${otherwise}`)
}
