// The queue between an answer and its reader: order, back-pressure, and failures on either side.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Chunks } from './chunks.ts'

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

test('what came before the reader is read in order, and so is what comes after', async () => {
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

test('a sender learns how much waits, and when there is room again', async () => {
  const { chunks, calls } = chunksOf()
  assert.equal(chunks.push(bytes('12345')), 5)
  assert.equal(chunks.push(bytes('678')), 8)
  assert.deepEqual(calls, [])
  assert.equal(textOf(await chunks.next()), '12345678')
  assert.deepEqual(calls, ['resume'])
  assert.equal(chunks.push(bytes('9')), 1)
})

test('a failure comes after what was received', async () => {
  const { chunks } = chunksOf()
  chunks.push(bytes('part'))
  chunks.fail(new Error('broken'))
  assert.equal(textOf(await chunks.next()), 'part')
  await assert.rejects(chunks.next(), /broken/)
})

test('a reader that waits gets all that comes at once', async () => {
  const { chunks } = chunksOf()
  const reading = chunks.next()
  chunks.push(bytes('one '))
  chunks.push(bytes('two'))
  chunks.end()
  assert.equal(textOf(await reading), 'one two')
  assert.equal((await chunks.next()).done, true)
})

test('a failure reaches a reader that waits', async () => {
  const { chunks } = chunksOf()
  const reading = chunks.next()
  chunks.fail(new Error('broken'))
  await assert.rejects(reading, /broken/)
})

test('a reader that leaves tells the sender, and reads no more', async () => {
  const { chunks, calls } = chunksOf()
  chunks.push(bytes('one'))
  for await (const _ of chunks) break
  assert.deepEqual(calls, ['resume', 'leave'])
  assert.deepEqual(await chunks.next(), { done: true, value: undefined })
})
