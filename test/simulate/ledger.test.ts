// A thousand seeded runs of several nodes, and half as many longer ones of a node with a journal, with every known fault.
// `SEED=123` repeats one, `SEEDS=50000 node --test test/simulate/ledger.test.ts` runs more.
import { test } from 'node:test'

import { loadRules } from './rules.ts'
import { simulate } from './world.ts'

const one = process.env['SEED']
const first = one === undefined ? 1 : Number(one)
const seeds = one === undefined ? Number(process.env['SEEDS'] ?? 1000) : 1

for (const [where, onSqlite, count] of [
  ['several nodes', false, seeds],
  ['a node on SQLite, mostly alone, with its journal', true, Math.ceil(seeds / 2)],
] as const) {
  test(`the books hold in ${count} simulated runs of ${where}`, async () => {
    const rules = await loadRules()
    for (let seed = first; seed < first + count; seed++) {
      try {
        simulate(seed, { rules, onSqlite })
      } catch (error) {
        throw new Error(`SEED=${seed} node --test test/simulate/ledger.test.ts`, { cause: error })
      }
    }
  })
}
