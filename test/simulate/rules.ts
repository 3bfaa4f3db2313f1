// The code under simulation, as a value: the real modules, or a copy of their sources with one line changed.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { FailureDetector } from '../../src/ledger/nodes/failure-detector.ts'
import type { decide, keyOf, knownHoldOf } from '../../src/ledger/rules/decide.ts'
import type { packWindow, unpackWindow } from '../../src/ledger/rules/rates.ts'

export type Rules = {
  readonly decide: typeof decide
  readonly keyOf: typeof keyOf
  readonly knownHoldOf: typeof knownHoldOf
  readonly packWindow: typeof packWindow
  readonly unpackWindow: typeof unpackWindow
  readonly FailureDetector: typeof FailureDetector
}

/** One change of one source file that makes the ledger wrong. */
export type Mutation = { readonly file: string; readonly from: string; readonly to: string }

const SOURCE = fileURLToPath(new URL('../../src', import.meta.url))

export function loadRules(): Promise<Rules> {
  return importRules(SOURCE)
}

/** The rules with this mistake in them. Fails if the source no longer has the text, so that mutants do not rot. */
export async function loadMutant(mutation: Mutation): Promise<Rules> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-mutant-'))
  try {
    for (const part of ['core', 'store', 'catalog', 'ledger']) {
      cpSync(join(SOURCE, part), join(folder, part), { recursive: true })
    }
    const path = join(folder, 'ledger', mutation.file)
    const source = readFileSync(path, 'utf8')
    const pieces = source.split(mutation.from)
    if (pieces.length !== 2) {
      throw new Error(`${mutation.file} has ${pieces.length - 1} places like: ${mutation.from}`)
    }
    writeFileSync(path, pieces.join(mutation.to))
    return await importRules(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function importRules(source: string): Promise<Rules> {
  const load = (file: string) => import(pathToFileURL(join(source, 'ledger', file)).href)
  return {
    ...(await load('rules/decide.ts')),
    ...(await load('rules/rates.ts')),
    ...(await load('nodes/failure-detector.ts')),
  } as Rules
}
