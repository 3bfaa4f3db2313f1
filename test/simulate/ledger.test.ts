// A thousand seeded runs of several nodes with every known fault. `SEED=123` repeats one,
// `SEEDS=50000 node --test test/simulate/ledger.test.ts` runs more.
import { test } from 'node:test'

import { loadRules } from './rules.ts'
import { simulate } from './world.ts'

const STEPS = 250
const one = process.env['SEED']
const first = one === undefined ? 1 : Number(one)
const count = one === undefined ? Number(process.env['SEEDS'] ?? 1000) : 1

test(`the books hold in ${count} simulated runs`, async () => {
  const rules = await loadRules()
  for (let seed = first; seed < first + count; seed++) {
    try {
      simulate(seed, STEPS, { rules })
    } catch (error) {
      throw new Error(`SEED=${seed} node --test test/simulate/ledger.test.ts`, { cause: error })
    }
  }
})
