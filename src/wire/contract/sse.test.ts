// SSE framing: the standard's corners, and the same events however the bytes are split.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { processorMs } from '../../../test/samples/processor-time.ts'
import { replaceData, sseComment, sseEvent, SseReader, writeSse } from './sse.ts'

function readAll(
  bytes: Uint8Array,
  cuts: readonly number[] = [],
): { event: string; data: string }[] {
  const reader = new SseReader()
  const edges = [...new Set([0, ...cuts, bytes.length])].toSorted((a, b) => a - b)
  return edges
    .slice(1)
    .flatMap((edge, index) => reader.read(bytes.subarray(edges[index], edge)))
    .map(({ event, data }) => ({ event, data }))
}

test('corner cases of the framing are read as the standard says', () => {
  for (const [text, expected] of [
    ['data: a\n\n', [{ event: '', data: 'a' }]],
    ['event: x\ndata:a\n\n', [{ event: 'x', data: 'a' }]],
    ['data: a\r\n\r\ndata: b\r\rdata: c\n\n', ['a', 'b', 'c'].map((data) => ({ event: '', data }))],
    ['data: a\ndata:  b\n\n', [{ event: '', data: 'a\n b' }]],
    ['\uFEFFdata: a\n\n', [{ event: '', data: 'a' }]],
    [': a comment\n\n', [{ event: '', data: '' }]],
    ['id: 1\nretry: 5\ndata: a\n\n', [{ event: '', data: 'a' }]],
    ['data\n\n', [{ event: '', data: '' }]],
    ['data: never ended\n', []],
    ['data: a\n\ndata: cut', [{ event: '', data: 'a' }]],
  ] as const) {
    assert.deepEqual(readAll(Buffer.from(text)), expected, JSON.stringify(text))
  }
})

test('lines that end with CR alone are read as they arrive, the last one too', () => {
  const reader = new SseReader()
  const read = (text: string) => reader.read(Buffer.from(text)).map(({ data, raw }) => [data, raw])
  assert.deepEqual(read('data: a\r\r'), [['a', 'data: a\r\r']])
  assert.deepEqual(read('data: b\r'), [])
  assert.deepEqual(read('\r'), [['b', 'data: b\r\r']])
  assert.deepEqual(read('data: [DONE]\r\r'), [['[DONE]', 'data: [DONE]\r\r']])
  // The rest of a line end that turns out to have two characters is no line.
  assert.deepEqual(read('\ndata: c\n\n'), [['c', 'data: c\n\n']])
})

test('a comment ends no event: readers that count blank lines would find one without data', () => {
  const text = `${sseComment('keepalive')}${writeSse(sseEvent('', 'a'))}`
  assert.deepEqual(readAll(Buffer.from(text)), [{ event: '', data: 'a' }])
})

test('written events are read back unchanged', () => {
  const written = [
    sseEvent('', { a: 'ü\n' }),
    sseEvent('ping', { type: 'ping' }),
    sseEvent('', '[DONE]'),
  ]
  const bytes = Buffer.from(written.map(writeSse).join(''))
  const read = new SseReader().read(bytes)
  assert.deepEqual(
    read.map(({ event, data }) => ({ event, data })),
    written.map(({ event, data }) => ({ event, data })),
  )
  assert.equal(read.map(writeSse).join(''), bytes.toString())
})

test('the events do not depend on how the bytes are split', () => {
  const line = fc.constantFrom('data: ä', 'data: 𝄞x', 'event: e', ': c', 'data:', 'id: 7')
  const stream = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r', '\r\n')), { maxLength: 30 })
  fc.assert(
    fc.property(stream, fc.array(fc.nat({ max: 200 })), (lines, cuts) => {
      const text = lines.map(([text, end]) => text + end + (text === 'data: ä' ? end : '')).join('')
      const bytes = Buffer.from(`${text}\n\n`)
      assert.deepEqual(readAll(bytes, cuts), readAll(bytes))
      assert.deepEqual(readAll(bytes, Array.from(bytes.keys())), readAll(bytes))
    }),
  )
})

test('an event that never ends is the provider’s failure', () => {
  const reader = new SseReader()
  const line = Buffer.alloc(1024 * 1024, 'x')
  assert.throws(() => {
    for (let index = 0; index < 9; index++) reader.read(line)
  }, /an event that does not end/)
})

test('a long event in many small reads takes linear time', () => {
  const reader = new SseReader()
  const line = Buffer.from(`data: ${'x'.repeat(57)}\n`)
  const startedMs = processorMs()
  for (let index = 0; index < 65_536; index++) reader.read(line)
  const [event] = reader.read(Buffer.from('\n'))
  assert.equal(event?.raw.length, 4 * 1024 * 1024 + 1)
  // Takes a tenth of a second; copied for every read, it would block everything else for minutes.
  assert.ok(processorMs() - startedMs < 20_000)
})

test('data is replaced quickly, whatever surrounds it', () => {
  const spaces = ' '.repeat(100_000)
  const before = `:${spaces.repeat(3)}\nid: 1\ndata: ${spaces}`
  const after = `${spaces}\nretry: 1\n\n`
  const [event] = new SseReader().read(Buffer.from(`${before}{"a":1}${after}`))
  assert.ok(event !== undefined)
  const startedMs = processorMs()
  assert.equal(replaceData(event, event.data.replace('1', '2')), `${before}{"a":2}${after}`)
  // A search for the data itself compares each space with every other one.
  assert.ok(processorMs() - startedMs < 1_000)
})

test('data of several lines becomes one line when it is replaced', () => {
  const [event] = new SseReader().read(Buffer.from('event: e\ndata: {\ndata: "a":1}\n\n'))
  assert.ok(event !== undefined)
  assert.equal(replaceData(event, '{\n"a":2}'), 'event: e\ndata: { "a":2}\n\n')
})

test('an event of countless lines is refused before it ends', () => {
  const lines = Buffer.from('a\n'.repeat(200_000))
  assert.throws(() => new SseReader().read(lines), {
    code: 'provider_failed',
    message: /too many lines/,
  })
  const reader = new SseReader()
  // Lines of many events are as many as they like.
  for (let events = 0; events < 200_000; events++) reader.read(Buffer.from('data: a\n\n'))
})
