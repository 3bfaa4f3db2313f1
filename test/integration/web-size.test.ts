// What a first visit fetches, whichever page it starts with: measured in the build itself, compressed with gzip, which
// every proxy and browser supports.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { before, describe, test } from 'node:test'
import { build } from 'vite'
import type { Rolldown } from 'vite'

const scriptBytesMax = 280_000
/** The texts of all pages in one language, which grow with every page that is added. */
const textBytesMax = 30_000
/** Of the script that asks for all the rest. */
const firstBytesMax = 4_000
const catalogue = /\/i18n\/\w+\.json$/

describe('the first load', () => {
  const chunks = new Map<string, Rolldown.OutputChunk>()
  const bytes = new Map<string, number>()
  let page = ''
  let styles = ''

  before(async () => {
    const built = await build({ root: 'web', logLevel: 'error', build: { write: false } })
    assert.ok('output' in built)
    for (const chunk of built.output)
      if (chunk.type === 'asset') {
        if (chunk.fileName === 'index.html') page = String(chunk.source)
        if (chunk.fileName.endsWith('.css')) styles += String(chunk.source)
      } else {
        chunks.set(chunk.fileName, chunk)
        bytes.set(chunk.fileName, gzipSync(chunk.code).length)
      }
  })

  test('of every page stays below the limit, including all it may load later', () => {
    const [heaviest = 0] = [...chunks.values()]
      .filter(({ facadeModuleId }) => catalogue.test(facadeModuleId ?? ''))
      .map(({ fileName }) => bytes.get(fileName) ?? 0)
      .toSorted((one, other) => other - one)
    assert.ok(heaviest > 0, 'no catalogue in the build')
    assert.ok(heaviest < textBytesMax, `${heaviest} bytes of texts`)
    const pages = chunkOf(/\/src\/router\.tsx$/).dynamicImports
    assert.ok(pages.length > 15, 'the router loads its pages on demand')
    const sizes = pages.map((page) => {
      const fetched = withImports([...start(), page])
      const later = withImports([...fetched].flatMap((file) => laterOnes(file)))
      const files = new Set([...fetched, ...later])
      const total = [...files].reduce((sum, each) => sum + (bytes.get(each) ?? 0), 0)
      return { page: chunks.get(page)?.name, total }
    })
    assert.deepEqual(
      sizes.filter(({ total }) => total >= scriptBytesMax),
      [],
    )
  })

  test('begins with a script that need not wait for the large ones, which the page names', () => {
    const first = withImports([chunkOf(/\/src\/start\.ts$/).fileName])
    const total = [...first].reduce((sum, each) => sum + (bytes.get(each) ?? 0), 0)
    assert.ok(total < firstBytesMax, `${total} bytes: ${[...first].join(', ')}`)
    const unnamed = [...start()].filter((each) => !page.includes(`"/${each}"`))
    assert.deepEqual(unnamed, [])
  })

  test('contains no catalogue of texts', () => {
    const texts = [...start()].filter((each) =>
      chunks.get(each)?.moduleIds.some((id) => catalogue.test(id)),
    )
    assert.deepEqual(texts, [])
  })

  test('has the styles of the components in use, and no others', () => {
    const scripts = [...chunks.values()].map(({ code }) => code).join('\n')
    const files = globSync('node_modules/@mantine/core/styles/*.layer.css')
    assert.ok(files.length > 50)
    const wrong = files.flatMap((file) => {
      const classes = readFileSync(file, 'utf8').match(/m_[0-9a-f]{6,}/g) ?? []
      const isUsed = classes.some((name) => scripts.includes(name))
      const isThere = classes.some((name) => styles.includes(name))
      return isUsed === isThere ? [] : [`${file}: ${isUsed ? 'missing' : 'not used'}`]
    })
    assert.deepEqual(wrong, [])
  })

  function chunkOf(module: RegExp): Rolldown.OutputChunk {
    const found = [...chunks.values()].find(({ moduleIds }) =>
      moduleIds.some((id) => module.test(id)),
    )
    assert.ok(found, `no file of the build has ${module.source}`)
    return found
  }

  function withImports(files: readonly string[]): Set<string> {
    const found = new Set(files)
    for (const file of found) for (const each of chunks.get(file)?.imports ?? []) found.add(each)
    return found
  }

  /** The scripts every page loads first. */
  function start(): Set<string> {
    return withImports(
      [/\/src\/start\.ts$/, /\/src\/main\.tsx$/].map((each) => chunkOf(each).fileName),
    )
  }

  /** The dialogs, tabs and drawers that are loaded on demand: not other pages or catalogues. */
  function laterOnes(file: string): string[] {
    return start().has(file) ? [] : (chunks.get(file)?.dynamicImports ?? [])
  }
})
