// docs/config.md and the schema say the same: every key is documented, and nothing else is.
import assert from 'node:assert/strict'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { z } from 'zod'

import { ADAPTERS } from '../providers/adapters.ts'
import { catalogOf } from './catalog-of.ts'
import { loadConfig } from './load.ts'
import { file } from './schema.ts'

const NOW = Date.parse('2026-10-01T00:00:00Z')
const text = readFileSync('docs/config.md', 'utf8')
const rows = text
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()))

describe('docs/config.md', () => {
  test('lists every setting of the schema and no other', () => {
    const documented = rows
      .map(([, key = '']) => key.slice(1, -1))
      .filter((key) => !isVariable(key))
    assert.deepEqual(documented.toSorted(), [...new Set(keysOf(file, ''))].toSorted())
  })

  test('names every kind of provider', () => {
    const [, , kinds] = rows.find(([, key]) => key === '`providers.NAME.kind`') ?? []
    assert.equal(kinds, ADAPTERS.map(({ kind }) => kind).join(', '))
  })

  test('lists every variable the code reads and no other', () => {
    const documented = rows.map(([, key = '']) => key.slice(1, -1)).filter(isVariable)
    // The launcher reads one of them before there is any configuration, and a gateway elsewhere is no part of it.
    const sources = globSync(['src/config/*.ts', 'src/cli/gateway/*.ts', 'bin/*.mjs']).filter(
      (path) => !path.endsWith('.test.ts'),
    )
    const read = sources.flatMap(
      (path) => readFileSync(path, 'utf8').match(/TOLLGATE_[A-Z]+/g) ?? [],
    )
    assert.deepEqual(documented.toSorted(), [...new Set(read)].toSorted())
  })

  test('gives the type, default, meaning and an example of every key', () => {
    for (const row of rows) assert.ok(!row.slice(1, -1).includes(''), row.join(' | '))
  })

  test('names the defaults of an empty file', () => {
    const { server, keys, frame, ...rest } = loadConfig({ env: {}, folder: tmpdir() })
    const defaults = {
      'server.host': server.host,
      'server.port': server.port,
      'server.workers': server.workers,
      'keys.prefix': keys.prefix,
      'frame.budget': frame.limitNanodollars / 1_000_000_000n,
      'frame.period': frame.period,
      'frame.timezone': frame.timezone,
      'frame.week_start': frame.weekStart,
      'auth.headers': rest.auth.headers,
      'responses.store': rest.responses.store,
      sandbox: rest.sandbox,
    }
    for (const [key, value] of Object.entries(defaults)) {
      const [, , , written] = rows.find(([, name]) => name === `\`${key}\``) ?? []
      assert.equal(written, `\`${String(value)}\``, key)
    }
  })

  test('has examples that work, and all of whose targets are served', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-docs-'))
    const examples = [...text.matchAll(/```yaml\n([^]*?)```/g)].map(([, yaml = '']) => yaml)
    const env = { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', AZURE_API_KEY: 'k' }
    try {
      const reasons = examples
        .filter((yaml) => yaml.includes('models:\n') && yaml.includes('providers:\n'))
        .map((yaml) => {
          writeFileSync(join(folder, 'tollgate.yaml'), yaml)
          const catalog = catalogOf(loadConfig({ env, folder }), { sandbox: [], now: NOW })
          return catalog.list().map(({ reason }) => reason)
        })
      assert.deepEqual(reasons, [[null, null, null], [null]])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

function isVariable(key: string): boolean {
  return key.startsWith('TOLLGATE_')
}

/** The paths a schema accepts, NAME and MODEL standing for what the operator chooses. */
function keysOf(schema: z.core.$ZodType, path: string): readonly string[] {
  const def = (schema as z.ZodType & { def: Def }).def
  const inside = def.innerType ?? (def.type === 'pipe' ? pipeInput(def) : undefined)
  if (inside !== undefined) return keysOf(inside, path)
  if (def.type === 'object') {
    return Object.entries(def.shape ?? {}).flatMap(([name, each]) =>
      keysOf(each, path === '' ? name : `${path}.${name}`),
    )
  }
  if (def.type === 'array' && def.element !== undefined && !isText(def.element)) {
    return keysOf(def.element, `${path}[]`)
  }
  if (def.type === 'union') return (def.options ?? []).flatMap((each) => keysOf(each, path))
  if (def.type === 'record' && def.valueType !== undefined) {
    const names = namesOf(def.keyType) ?? [path.endsWith('models') ? 'MODEL' : 'NAME']
    const { valueType } = def
    return names.flatMap((name) => keysOf(valueType, `${path}.${name}`))
  }
  return [path]
}

type Def = {
  readonly type: string
  readonly innerType?: z.core.$ZodType
  readonly in?: z.core.$ZodType
  readonly out?: z.core.$ZodType
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>
  readonly element?: z.core.$ZodType
  readonly options?: readonly z.core.$ZodType[]
  readonly keyType?: z.core.$ZodType
  readonly valueType?: z.core.$ZodType
  readonly entries?: Readonly<Record<string, string>>
}

/** A transform comes after its schema, a preprocessing step before it. */
function pipeInput({ in: first, out }: Def): z.core.$ZodType | undefined {
  return first !== undefined && defOf(first).type === 'transform' ? out : first
}

function isText(schema: z.core.$ZodType): boolean {
  return defOf(schema).type === 'string'
}

function namesOf(schema: z.core.$ZodType | undefined): readonly string[] | undefined {
  const entries = schema === undefined ? undefined : defOf(schema).entries
  return entries === undefined ? undefined : Object.values(entries)
}

function defOf(schema: z.core.$ZodType): Def {
  return (schema as unknown as { readonly def: Def }).def
}
