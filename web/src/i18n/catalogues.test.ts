// Every language has the same texts with the same values, and no text is unused.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, test } from 'node:test'
import { ERROR_CODES } from '../../../src/core/errors.ts'
import { SENTENCES } from '../../../src/core/sentences.ts'
import { CHANGES, LOOKS } from '../../../src/store/audit/record.ts'
import { flatten } from './i18n.ts'

const folder = import.meta.dirname
const catalogues = globSync(`${folder}/*.json`).map((path) => ({
  language: basename(path, '.json'),
  texts: flatten(JSON.parse(readFileSync(path, 'utf8'))),
}))
const english =
  catalogues.find(({ language }) => language === 'en')?.texts ?? new Map<string, string>()
const plurals = /_(zero|one|two|few|many|other)$/

describe('catalogues', () => {
  for (const { language, texts } of catalogues) {
    test(`${language} has every text and no other`, () => {
      const names = (all: ReadonlyMap<string, string>): string[] => [
        ...new Set([...all.keys()].map((key) => key.replace(plurals, ''))),
      ]
      assert.deepEqual(names(texts).toSorted(), names(english).toSorted())
    })

    test(`${language} uses the same values in each text`, () => {
      for (const [key, text] of texts) {
        const model = english.get(key) ?? english.get(key.replace(plurals, '_other'))
        assert.deepEqual(valuesOf(text), valuesOf(model ?? ''), key)
      }
    })

    test(`${language} leaves no text empty`, () => {
      for (const [key, text] of texts) assert.notEqual(text.trim(), '', key)
    })
  }

  test('every language has every sentence the gateway refuses with', () => {
    assert.deepEqual(namesBelow('refused.'), Object.keys(SENTENCES).toSorted())
    for (const [name, text] of Object.entries(SENTENCES))
      assert.deepEqual(valuesOf(english.get(`refused.${name}`) ?? ''), valuesOf(text), name)
  })

  test('every language has every action of the record', () => {
    const keysOf = (actions: readonly string[]) =>
      actions.map((action) => action.replace('.', '_')).toSorted()
    assert.deepEqual(namesBelow('audit.action.'), keysOf(CHANGES))
    assert.deepEqual(namesBelow('audit.tried.'), keysOf([...CHANGES, ...LOOKS]))
  })

  test('every language has every error code of a call', () => {
    assert.deepEqual(namesBelow('callError.'), ERROR_CODES.toSorted())
  })

  test('every text is used', () => {
    const source = globSync(`${folder}/../**/*.{ts,tsx}`)
      .map((path) => readFileSync(path, 'utf8'))
      .join('\n')
    // A key may be built from a prefix and a value: t(`status.${status}.word`).
    const built = [...source.matchAll(/`([\w.]+)\.\$\{/g)].map(([, prefix = '']) => `${prefix}.`)
    // Or the prefix is a value itself: find(`${section}.${value}`).
    built.push('audit.action.', 'audit.tried.')
    const unused = [...english.keys()]
      .map((key) => key.replace(plurals, ''))
      .filter((key) => !source.includes(`'${key}'`) && !source.includes(`"${key}"`))
      .filter((key) => !built.some((prefix) => key.startsWith(prefix)))
    assert.deepEqual([...new Set(unused)], [])
  })
})

/** From the English catalogue, which every other one must match. */
function namesBelow(prefix: string): string[] {
  const keys = [...english.keys()].filter((key) => key.startsWith(prefix))
  return keys.map((key) => key.slice(prefix.length)).toSorted()
}

/** The names of the values between braces. */
function valuesOf(text: string): string[] {
  return [...new Set([...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name))].toSorted()
}
