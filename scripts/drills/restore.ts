// A backup under load, restored elsewhere, and what it costs those who write meanwhile: how long a request takes in the
// ledger, hold and settlement, without a backup and beside one.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freshDatabase } from '../../test/support/postgres/postgres.ts'
import { freshSqlite } from '../../test/support/store.ts'
import { makeRequests, openBooks, type Books } from '../../test/support/traffic.ts'
import type { Drill } from '../drill.ts'
import { timed, tollgate } from './steps/steps.ts'

const KEYS = 100
const REQUESTS = 200_000
const ALONE_MS = 10_000
/** Requests a second while it is measured: at full load a queue would be measured, with or without a backup. */
const PER_SECOND = 200

export const drill: Drill = {
  summary: `backs up ${REQUESTS} requests under load, and restores them elsewhere, on both databases`,
  run: async ([requests = REQUESTS]) => {
    for (const [name, fresh] of [
      ['SQLite', freshSqlite],
      ['PostgreSQL', freshDatabase],
    ] as const) {
      console.log(name)
      const folder = mkdtempSync(join(tmpdir(), 'tollgate-drill-'))
      const file = join(folder, 'drill.backup')
      const [source, target] = [await fresh(), await fresh()]
      {
        await using books = await openBooks(source.url, KEYS)
        await makeRequests(books, (made) => made < Number(requests))
        console.log(`without a backup: ${await latency(books, pause(ALONE_MS))}`)
        const backup = timed('tollgate backup', () => tollgate(['backup', file], source.url))
        console.log(`beside a backup: ${await latency(books, backup)}`)
      }
      await timed('tollgate restore', () => tollgate(['restore', file, '--yes'], target.url))
      assert.match(await tollgate(['ledger', 'verify'], target.url), /^The books balance\./)
      await source.drop()
      await target.drop()
      rmSync(folder, { recursive: true })
    }
  },
}

/** Of requests at a steady pace, until something has ended. */
async function latency(books: Books, ends: Promise<unknown>): Promise<string> {
  let isOver = false
  const over = ends.then(() => (isOver = true))
  const running: Promise<readonly number[]>[] = []
  const fromMs = performance.now()
  while (!isOver) {
    const due = ((performance.now() - fromMs) * PER_SECOND) / 1_000
    while (running.length < due) running.push(makeRequests(books, once()))
    await pause(1)
  }
  await over
  const sorted = (await Promise.all(running)).flat().toSorted((one, other) => one - other)
  const at = (part: number): string => (sorted[Math.floor(part * sorted.length)] ?? NaN).toFixed(2)
  return `${sorted.length} requests, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, slowest ${at(0.9999)} ms`
}

function once(): (made: number) => boolean {
  return (made) => made < 1
}
