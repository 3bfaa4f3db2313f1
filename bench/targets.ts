// The project's promises about its speed, as ratios within one run, and whether a run kept them.
import { TOLLGATE_SQLITE, TOLLGATE_WITHOUT_LEDGER } from './contenders/all.ts'
import { BARE_PROXY } from './contenders/contender.ts'
import { PORTKEY } from './contenders/portkey.ts'
import type { Figure, Row } from './report/rows.ts'
import { figureOf } from './report/rows.ts'

/** Above this, the disk and not the gateway decides the latency of one connection. */
const COMMIT_US_MAX = 150

export type Target = {
  readonly promise: string
  readonly wanted: string
  readonly figure: number
  readonly verdict: 'kept' | 'MISSED' | 'not judged'
}

/** The rows that promises are about. */
export type PromisedRows = {
  readonly [
    Name in
      | 'small32'
      | 'small256'
      | 'p50One'
      | 'stream'
      | 'translatedStream'
      | 'badKey'
      | 'emptyBudget'
      | 'streamMemory'
      | 'idleMemory'
      | 'memory'
      | 'memoryTwice'
      | 'start'
  ]: Row
}

export function judge(rows: PromisedRows, commitUs: number): readonly Target[] {
  const own = (row: Row): Figure => figureOf(row, TOLLGATE_SQLITE) ?? { value: NaN }
  const bare = (row: Row): Figure => figureOf(row, BARE_PROXY) ?? { value: NaN }
  const ratio = (row: Row): number => own(row).ratio ?? NaN
  const served = own(rows.small32).value
  const of = (row: Row, contender: string): Figure => figureOf(row, contender) ?? { value: NaN }
  const withoutLedger = (row: Row): number => of(row, TOLLGATE_WITHOUT_LEDGER).ratio ?? NaN
  const ledgerShare = (row: Row): number => 1 - ratio(row) / withoutLedger(row)
  const portkey = (row: Row): number => own(row).value / of(row, PORTKEY).value
  const p50One = atMost('p50 at one connection, × Portkey’s', portkey(rows.p50One), 1)
  return [
    atLeast('small requests at 32 connections, × the bare proxy', ratio(rows.small32), 0.36),
    atLeast('small requests at 256 connections, × the bare proxy', ratio(rows.small256), 0.52),
    atLeast('the same at 32 without the ledger', withoutLedger(rows.small32), 0.65),
    atLeast('the same at 256 without the ledger', withoutLedger(rows.small256), 0.6),
    atMost('the ledger’s share at 32 connections', ledgerShare(rows.small32), 0.38),
    atMost('the ledger’s share at 256 connections', ledgerShare(rows.small256), 0.16),
    atLeast('small requests at 32 connections, × Portkey', portkey(rows.small32), 3.6),
    commitUs > COMMIT_US_MAX ? { ...p50One, verdict: 'not judged' } : p50One,
    atLeast('events passed through, × the bare proxy', ratio(rows.stream), 0.8),
    atLeast('events translated, × the bare proxy', ratio(rows.translatedStream), 0.5),
    atLeast('refusing a bad key, × serving', own(rows.badKey).value / served, 2),
    atLeast('refusing on an empty budget, × serving', own(rows.emptyBudget).value / served, 2),
    atMost('memory per open stream, × the bare proxy', ratio(rows.streamMemory), 1.5),
    atMost('memory when idle, MB', own(rows.idleMemory).value, 160),
    atMost(
      'memory after many requests, MB above the bare proxy',
      own(rows.memory).value - bare(rows.memory).value,
      90,
    ),
    atMost(
      'memory after twice as many, × that',
      own(rows.memoryTwice).value / own(rows.memory).value,
      1.05,
    ),
    atMost('start until it listens, ms', own(rows.start).value, 1_500),
  ]
}

export function targetsTable(targets: readonly Target[]): string {
  const lines = targets.map(({ promise, wanted, figure, verdict }) => {
    const measured = Number.isNaN(figure) ? 'not measured' : figure.toFixed(2)
    return `| ${promise} | ${wanted} | ${measured} | ${verdict} |`
  })
  return ['| promise | wanted | measured | |', '|---|---:|---:|---|', ...lines].join('\n')
}

export function atLeast(promise: string, figure: number, limit: number): Target {
  return { promise, wanted: `≥ ${limit}`, figure, verdict: figure >= limit ? 'kept' : 'MISSED' }
}

export function atMost(promise: string, figure: number, limit: number): Target {
  return { promise, wanted: `≤ ${limit}`, figure, verdict: figure <= limit ? 'kept' : 'MISSED' }
}
