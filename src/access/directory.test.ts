// Keys in memory: looked up once, forgotten at once, and never put back by a look-up that began before the change.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Caller } from './caller.ts'
import { KeyDirectory } from './directory.ts'
import { SAMPLE_CALLER as caller } from './sample-caller.ts'

test('a key is looked up once, and so is an unknown secret', async () => {
  const asked: string[] = []
  const directory = new KeyDirectory(async (hash) => {
    asked.push(hash)
    return hash === 'known' ? caller : undefined
  })
  for (const hash of ['known', 'known', 'unknown', 'unknown']) {
    const found = await directory.findBySecretHash(hash)
    assert.equal(found, hash === 'known' ? caller : undefined)
  }
  assert.deepEqual(asked, ['known', 'unknown'])
  directory.forget()
  assert.equal(await directory.findBySecretHash('known'), caller)
  assert.deepEqual(asked, ['known', 'unknown', 'known'])
})

test('an unknown secret is found once a key has it', async () => {
  const answers = [undefined, caller]
  const directory = new KeyDirectory(async () => answers.shift())
  assert.equal(await directory.findBySecretHash('hash'), undefined)
  directory.forget()
  assert.equal(await directory.findBySecretHash('hash'), caller)
})

for (const [most, what, found] of [
  [100_000, 'keys', caller],
  [10_000, 'unknown secrets', undefined],
] as const)
  test(`the directory remembers at most ${most} ${what}`, async () => {
    let loads = 0
    const told = Promise.resolve(found)
    const directory = new KeyDirectory(() => {
      loads += 1
      return told
    })
    for (let n = 0; n < most; n++) await directory.findBySecretHash(`hash ${n}`)
    await directory.findBySecretHash('hash 0')
    assert.equal(loads, most)
    await directory.findBySecretHash('one more')
    await directory.findBySecretHash('hash 0')
    assert.equal(loads, most + 2)
  })

test('a look-up that a change overtakes is not remembered', async () => {
  const first = Promise.withResolvers<Caller | undefined>()
  const answers = [first.promise, Promise.resolve(undefined)]
  const directory = new KeyDirectory(() => answers.shift() ?? Promise.resolve(undefined))
  const early = directory.findBySecretHash('hash')
  directory.forget()
  first.resolve(caller)
  assert.equal(await early, caller)
  assert.equal(await directory.findBySecretHash('hash'), undefined)
})
