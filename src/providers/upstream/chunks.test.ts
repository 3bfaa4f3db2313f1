// The queue between an answer and its reader: order, back-pressure, and failures on either side.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Chunks } from './http.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text)

function chunksOf(): { chunks: Chunks; calls: string[] } {
  const calls: string[] = []
  const chunks = new Chunks({
    resume: () => calls.push('resume'),
    leave: () => calls.push('leave'),
  })
  return { chunks, calls }
}

function textOf({ value }: IteratorResult<Uint8Array, undefined>): string {
  return Buffer.from(value ?? []).toString()
}

async function readAll(chunks: Chunks): Promise<string> {
  let text = ''
  for await (const chunk of chunks) text += Buffer.from(chunk).toString()
  return text
}

test('chunks are read in order, whether they arrive before or after the reader', async () => {
  const { chunks } = chunksOf()
  chunks.push(bytes('one '))
  chunks.push(bytes('two '))
  const text = readAll(chunks)
  await Promise.resolve()
  chunks.push(bytes('three '))
  chunks.push(bytes('four'))
  chunks.end()
  assert.equal(await text, 'one two three four')
})

test('the sender learns how many bytes are unread, and when there is room again', async () => {
  const { chunks, calls } = chunksOf()
  assert.equal(chunks.push(bytes('12345')), 5)
  assert.equal(chunks.push(bytes('678')), 8)
  assert.deepEqual(calls, [])
  assert.equal(textOf(await chunks.next()), '12345678')
  assert.deepEqual(calls, ['resume'])
  assert.equal(chunks.push(bytes('9')), 1)
})

test('a failure is thrown after the received chunks are read', async () => {
  const { chunks } = chunksOf()
  chunks.push(bytes('part'))
  chunks.fail(new Error('broken'))
  assert.equal(textOf(await chunks.next()), 'part')
  await assert.rejects(chunks.next(), /broken/)
})

test('a waiting reader gets everything that arrives at once', async () => {
  const { chunks } = chunksOf()
  const reading = chunks.next()
  chunks.push(bytes('one '))
  chunks.push(bytes('two'))
  chunks.end()
  assert.equal(textOf(await reading), 'one two')
  assert.equal((await chunks.next()).done, true)
})

test('a failure reaches a waiting reader', async () => {
  const { chunks } = chunksOf()
  const reading = chunks.next()
  chunks.fail(new Error('broken'))
  await assert.rejects(reading, /broken/)
})

test('a reader that leaves notifies the sender, and reads no more', async () => {
  const { chunks, calls } = chunksOf()
  chunks.push(bytes('one'))
  for await (const _ of chunks) break
  assert.deepEqual(calls, ['resume', 'leave'])
  assert.deepEqual(await chunks.next(), { done: true, value: undefined })
})
