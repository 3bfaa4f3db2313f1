// Citations of a Gemini answer: each URL once, at the text it belongs to.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { processorMs } from '../../../test/samples/processor-time.ts'
import type { JsonObject } from '../../core/json.ts'
import { geminiCodec } from './codec.ts'

const SOURCES = [
  { startIndex: 0, endIndex: 6, uri: 'https://example.com/a', license: 'mit' },
  { startIndex: 7, endIndex: 10, license: 'no address' },
]

function piece(text: string, more: JsonObject): JsonObject {
  return { candidates: [{ content: { parts: [{ text }] }, ...more }] }
}

function eventsOf(...chunks: readonly JsonObject[]) {
  const decode = geminiCodec.decodeEvents()
  return chunks.flatMap((chunk) => decode({ event: '', data: JSON.stringify(chunk), raw: '' }))
}

function citationsOf(...chunks: readonly JsonObject[]) {
  return eventsOf(...chunks).filter((event) => event.type === 'text-citation')
}

test('a URL is cited once, at the text it belongs to', () => {
  // Four characters of six bytes.
  const cited = {
    type: 'text-citation',
    choice: 0,
    block: 0,
    citation: { url: 'https://example.com/a', title: '', start: 0, end: 4 },
  }
  const told = { citationMetadata: { citationSources: SOURCES } }
  assert.deepEqual(
    citationsOf(piece('Grüß', told), piece(' Gott', { ...told, finishReason: 'STOP' })),
    [cited],
  )
  const vertex = { citationMetadata: { citations: [{ ...SOURCES[0], title: 'A' }] } }
  assert.deepEqual(citationsOf(piece('Grüß', vertex)), [
    { ...cited, citation: { ...cited.citation, title: 'A' } },
  ])
})

test('citations of a signed text and of the text after it are placed correctly', () => {
  const parts = [{ text: 'Grüß', thoughtSignature: 'c2ln' }, { text: 'Gott' }]
  const behind = { startIndex: 6, endIndex: 10, uri: 'https://example.com/b' }
  const citationMetadata = { citationSources: [...SOURCES, behind] }
  const spans = citationsOf({ candidates: [{ content: { parts }, citationMetadata }] }).map(
    ({ block, citation: { url, start, end } }) => [block, url, start, end],
  )
  assert.deepEqual(spans, [
    [0, 'https://example.com/a', 0, 4],
    [2, 'https://example.com/b', 0, 4],
  ])
})

test('a citation without text is dropped', () => {
  const told = { citationMetadata: { citationSources: SOURCES } }
  assert.deepEqual(citationsOf({ candidates: [{ content: { parts: [] }, ...told }] }), [])
})

test('a citation that comes after a call is told to be lost, unless it comes with the call', () => {
  const told = { citationMetadata: { citationSources: SOURCES } }
  const parts = [{ functionCall: { name: 'f', args: {} } }]
  const called = (more: JsonObject) => ({ candidates: [{ content: { parts }, ...more }] })
  const ended = (more: JsonObject) => ({ candidates: [{ finishReason: 'STOP', ...more }] })
  const isLost = (...chunks: readonly JsonObject[]): boolean =>
    eventsOf(piece('Grüß', {}), ...chunks).some(({ type }) => type === 'citations-lost')
  assert.ok(isLost(called({}), ended(told)))
  assert.ok(!isLost(called(told), ended(told)))
})

test('a flood of citations takes no longer than a few', () => {
  const flood = Array.from({ length: 10_000 }, (_, startIndex) => ({
    uri: 'https://a',
    startIndex,
  }))
  const told = { citationMetadata: { citations: flood } }
  const startedMs = processorMs()
  const cited = citationsOf(piece('ü'.repeat(500_000), told), piece('.', told))
  assert.equal(cited.length, 100)
  // Counting out all of them takes ten seconds, for an event of a megabyte.
  assert.ok(processorMs() - startedMs < 3_000)
})
