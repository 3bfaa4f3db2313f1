// The code under simulation, as a value: the rules as they are, or with one exported function or class replaced. A mutant
// gets its own copy of the modules below src/ledger, in which everybody who imports that name sees the replacement.
import { registerHooks } from 'node:module'
import type * as failureDetector from '../../src/ledger/nodes/failure-detector.ts'
import type * as known from '../../src/ledger/postgres/known.ts'
import type * as account from '../../src/ledger/rules/account.ts'
import type * as decide from '../../src/ledger/rules/decide.ts'
import type * as judge from '../../src/ledger/rules/judge.ts'
import type * as rates from '../../src/ledger/rules/rates.ts'
import type * as replay from '../../src/ledger/rules/replay.ts'
import type * as workingSet from '../../src/ledger/rules/working-set.ts'

export type Rules = Pick<typeof decide, 'accountsOf' | 'decide' | 'decideIn' | 'knownHoldOf'> &
  Pick<typeof rates, 'packWindow' | 'unpackWindow'> &
  Pick<typeof failureDetector, 'FailureDetector'> &
  Pick<typeof known, 'isUsual' | 'Known'> &
  Pick<typeof workingSet, 'BatchCache' | 'WorkingSet'> &
  Pick<typeof replay, 'concernedBy' | 'packRecord' | 'recordOf' | 'replay' | 'unpackRecord'>

type Modules = {
  readonly 'rules/account.ts': typeof account
  readonly 'rules/decide.ts': typeof decide
  readonly 'rules/judge.ts': typeof judge
  readonly 'rules/rates.ts': typeof rates
  readonly 'rules/replay.ts': typeof replay
  readonly 'rules/working-set.ts': typeof workingSet
  readonly 'nodes/failure-detector.ts': typeof failureDetector
  readonly 'postgres/known.ts': typeof known
}

/** One export of one module that makes the ledger wrong. */
export type Mutation = {
  readonly module: keyof Modules
  readonly name: string
  readonly replace: (original: never) => unknown
}

export function replacing<
  Module extends keyof Modules,
  Name extends keyof Modules[Module] & string,
>(
  module: Module,
  name: Name,
  replace: (original: Modules[Module][Name]) => Modules[Module][Name],
): Mutation {
  return { module, name, replace }
}

const LEDGER = new URL('../../src/ledger/', import.meta.url).href

export function loadRules(): Promise<Rules> {
  return importRules('')
}

export function loadMutant(mutation: Mutation): Promise<Rules> {
  mutations.push(mutation)
  return importRules(`?mutant=${mutations.length - 1}`)
}

async function importRules(query: string): Promise<Rules> {
  const load = (module: keyof Modules) => import(`${LEDGER}${module}${query}`)
  return {
    ...(await load('rules/decide.ts')),
    ...(await load('rules/rates.ts')),
    ...(await load('nodes/failure-detector.ts')),
    ...(await load('postgres/known.ts')),
    ...(await load('rules/working-set.ts')),
    ...(await load('rules/replay.ts')),
  } as Rules
}

const mutations: Mutation[] = []

/** Called by the module that stands in for a replaced one. */
export function replacementOf(mutant: number, original: never): unknown {
  return mutations[mutant]?.replace(original)
}

registerHooks({
  // What a mutant's module imports of the ledger is that mutant's, too.
  resolve: (specifier, context, next) => {
    const found = next(specifier, context)
    const mutant = mutantOf(context.parentURL)
    const isShared = mutant === undefined || !found.url.startsWith(LEDGER)
    if (isShared || found.url.includes('?')) return found
    return { ...found, url: `${found.url}?mutant=${mutant}` }
  },
  load: (url, context, next) => {
    const mutant = mutantOf(url)
    const mutation = mutant === undefined ? undefined : mutations[mutant]
    if (mutation === undefined || url !== `${LEDGER}${mutation.module}?mutant=${mutant}`) {
      return next(url, context)
    }
    const { name } = mutation
    const source = `
      import { ${name} as original } from '${url}&original'
      import { replacementOf } from '${import.meta.url}'
      export * from '${url}&original'
      export const ${name} = replacementOf(${mutant}, original)`
    return { format: 'module', source, shortCircuit: true }
  },
})

function mutantOf(url: string | undefined): number | undefined {
  const [, mutant] = url?.match(/\?mutant=(\d+)/) ?? []
  return mutant === undefined ? undefined : Number(mutant)
}
