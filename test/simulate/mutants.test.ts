// Tests the simulation itself: it must find each mistake within three thousand runs.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { MUTANTS, type Mutant } from './mutants.ts'
import { loadMutant, loadRules } from './rules.ts'
import { simulate } from './world.ts'

const SEEDS_MAX = 3000

describe('the simulation finds', () => {
  for (const mutant of MUTANTS) {
    test(mutant.name, async () => assert.ok(await isFound(mutant), 'no run found it'))
  }
})

async function isFound(mutant: Mutant): Promise<boolean> {
  const { onSqlite } = mutant
  const code =
    'mutation' in mutant
      ? { rules: await loadMutant(mutant.mutation), onSqlite }
      : { rules: await loadRules(), faults: mutant.faults, onSqlite }
  for (let seed = 1; seed <= SEEDS_MAX; seed++) {
    try {
      simulate(seed, code)
    } catch (error) {
      // Anything else would be a mutant that cannot run.
      assert.ok(error instanceof assert.AssertionError, String(error))
      return true
    }
  }
  return false
}
