// A gateway on SQLite whose disk is slow, or full for a while: streams continue, requests that cannot be admitted get a
// 503, nothing is lost, and the gateway recovers once there is room. And one on PostgreSQL whose spool is on such a disk.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { FaultyDisk } from '../support/disk-faults.ts'
import { faultyDisk, noFaultyDisk } from '../support/disk-faults.ts'
import type { TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import { freshDatabase } from '../support/postgres/postgres.ts'
import { openRoad } from '../support/road.ts'
import { streamSandbox } from '../support/sandbox.ts'
import { addsUp, askStory, askTogether, startStoryProvider, untilServed } from '../support/story.ts'
import { until } from '../support/until.ts'

const folders: string[] = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

describe('a faulty disk', { skip: noFaultyDisk ?? false }, () => {
  test('full: requests get a 503 and unfinished answers an error, then all recovers and adds up', async () => {
    await using provider = await startStoryProvider()
    const { disk, gateway: starting } = onDisk({ slowMs: 0, config: provider.config })
    await using gateway = await starting
    const story = await gateway.key('story', 'story')
    const sandbox = await gateway.key('sandbox', 'sandbox-chat')
    const answers: (number | undefined)[] = []
    let isOver = false
    const clients = [0, 1, 2, 3].map(async (index) => {
      while (!isOver) answers.push((await askStory(gateway.url, story, index % 2 === 0))?.status)
    })

    try {
      const running = await streamSandbox(gateway, sandbox, 'tokens=20 gap=200ms')
      disk.fill()
      const text = await running.text()
      assert.doesNotMatch(text, /\[DONE\]/)
      assert.match(text, /"code":"ledger_unavailable"/)
      assert.equal((await askStory(gateway.url, story, false))?.code, 'ledger_unavailable')
      assert.equal((await fetch(`${gateway.url}/healthz`)).status, 200)
      const ready = await fetch(`${gateway.url}/readyz`)
      assert.equal(ready.status, 503)
      assert.match(await ready.text(), /the database cannot be written/)
      disk.free()
      await untilServed(gateway.url, story)
      await until(async () => (await fetch(`${gateway.url}/readyz`)).ok)
    } finally {
      isOver = true
      await Promise.all(clients)
    }
    assert.deepEqual(new Set(answers).difference(new Set([200, 503])), new Set())
    await addsUp(gateway, provider)
    assert.notEqual((await gateway.tollgate('keys', 'show', 'sandbox'))['spent'], '0')
  })

  test('5 ms slower: many requests share one sync, and all of them are in the books', async (t) => {
    await using provider = await startStoryProvider()
    const { disk, gateway: starting } = onDisk({ slowMs: 5, config: provider.config })
    await using gateway = await starting
    const story = await gateway.key('story', 'story')
    await askStory(gateway.url, story, false)
    disk.slow()
    const requests = 200
    await askTogether({ url: gateway.url, secret: story }, { requests, clients: 40 })
    const syncs = disk.syncs()
    t.diagnostic(`${requests} requests, ${syncs} syncs`)
    // One sync per hold and one per settlement would be twice the number of requests.
    assert.ok(syncs > 0 && syncs < requests, `${syncs} syncs`)
    await addsUp(gateway, provider)
  })

  test('full under the spool: an answer that cannot be recorded fails, one after that is kept, and both are charged', async () => {
    const [folder, scratch] = [freshFolder(), freshFolder()]
    const database = await freshDatabase()
    await using road = await openRoad(database.url)
    const spool = join(folder, 'data', 'spool')
    const disk = faultyDisk({ folder: spool, scratch, slowMs: 0 })
    await using gateway = await startGateway({ folder, database: road.url, env: disk.env })
    const key = await gateway.key('demo', 'sandbox-chat')
    const short = await streamSandbox(gateway, key, 'tokens=10 gap=100ms')
    const long = await streamSandbox(gateway, key, 'tokens=150 gap=100ms')
    disk.fill()
    road.cut()
    const failed = await short.text()
    assert.doesNotMatch(failed, /\[DONE\]/)
    assert.match(failed, /"code":"ledger_unavailable"/)
    disk.free()
    assert.match(await long.text(), /data: \[DONE\]\n\n$/)
    const [file = ''] = readdirSync(spool)
    assert.notEqual(statSync(join(spool, file)).size, 0)
    road.mend()
    await until(async () => (await fetch(`${gateway.url}/readyz`)).ok)
    const shown = () => gateway.tollgate('keys', 'show', 'demo')
    await until(async () => (await shown())['held'] === '0')
    const [row] = (await gateway.tollgate('usage'))['rows'] as { requests: number; cost: string }[]
    assert.equal(row?.requests, 2)
    assert.equal((await shown())['spent'], row.cost)
    assert.deepEqual((await gateway.tollgate('ledger', 'orphans'))['orphans'], [])
    await until(() => statSync(join(spool, file)).size === 0)
    assert.equal((await gateway.stop()).code, 0)
    await database.drop()
  })

  test('two seconds slower: a stream continues while others wait for the disk', async () => {
    const { disk, gateway: starting } = onDisk({ slowMs: 2_000, config: '' })
    await using gateway = await starting
    const key = await gateway.key('demo', 'sandbox-chat')
    const running = await streamSandbox(gateway, key, 'tokens=400 gap=20ms')
    disk.slow()
    let waited: 'no' | 'yes' | 'over' = 'no'
    let chunksMeanwhile = 0
    assert.ok(running.body)
    for await (const _ of running.body) {
      if (waited === 'no') {
        waited = 'yes'
        void streamSandbox(gateway, key, 'tokens=1').then(() => (waited = 'over'))
      } else if (waited === 'yes') chunksMeanwhile++
      else break
    }
    assert.ok(chunksMeanwhile > 10, `${chunksMeanwhile} pieces came`)
  })
})

/** A gateway with its database and spool on such a disk. */
function onDisk(options: { readonly slowMs: number; readonly config: string }): {
  readonly disk: FaultyDisk
  readonly gateway: Promise<TestGateway>
} {
  const [folder, scratch] = [freshFolder(), freshFolder()]
  const disk = faultyDisk({ folder, scratch, slowMs: options.slowMs })
  return { disk, gateway: startGateway({ folder, config: options.config, env: disk.env }) }
}

function freshFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tollgate-disk-')))
  folders.push(folder)
  return folder
}
