// Two gateways on a PostgreSQL whose disk is slow, or full for a while: requests that cannot be admitted get a 503,
// admitted ones are charged once, and the gateways recover as soon as the server does.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { FaultyDisk } from '../support/disk-faults.ts'
import { faultyDisk, noFaultyDisk } from '../support/disk-faults.ts'
import type { TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import type { MortalPostgres } from '../support/postgres/postgres.ts'
import { startMortalPostgres } from '../support/postgres/postgres.ts'
import type { StoryAnswer } from '../support/story.ts'
import { addsUp, askStory, askTogether, startStoryProvider, untilServed } from '../support/story.ts'

const TABLES = '/data/base/'
const LOG = '/data/pg_wal/'

const folders: string[] = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

describe('PostgreSQL on a faulty disk', { skip: noFaultyDisk ?? false }, () => {
  test('no room for its tables: requests get a 503 until there is, and all adds up', async () => {
    const { disk, postgres } = await onDisk(TABLES, 0)
    await refusesWhile(postgres, {
      begin: () => disk.fill(),
      end: () => disk.free(),
    })
  })

  test('no room for its log: it stops, and after its restart all adds up', async () => {
    const { disk, postgres } = await onDisk(LOG, 0)
    await refusesWhile(postgres, {
      begin: () => disk.fill(),
      end: () => {
        disk.free()
        postgres.revive()
      },
    })
  })

  test('5 ms slower: many requests share one sync, and all of them are in the books', async (t) => {
    const { disk, postgres } = await onDisk(LOG, 5)
    await using provider = await startStoryProvider()
    await using gateway = await startGateway({ database: postgres.url, config: provider.config })
    const secret = await gateway.key('story', 'story')
    await askStory(gateway.url, secret, false)
    disk.slow()
    const requests = 200
    await askTogether({ url: gateway.url, secret }, { requests, clients: 40 })
    const syncs = disk.syncs()
    t.diagnostic(`${requests} requests, ${syncs} syncs`)
    // One sync per hold and one per settlement would be twice the number of requests.
    assert.ok(syncs > 0 && syncs < requests, `${syncs} syncs`)
    await addsUp(gateway, provider)
  })
})

/** Starts a fault under load, checks that requests are refused, and ends it. */
async function refusesWhile(
  postgres: MortalPostgres,
  fault: { readonly begin: () => void; readonly end: () => void },
): Promise<void> {
  await using provider = await startStoryProvider()
  const config = `ledger: { beat: 0.2s, dead_after: 1s }${provider.config}`
  const start = (): Promise<TestGateway> => startGateway({ config, database: postgres.url })
  await using first = await start()
  await using second = await start()
  const secret = await first.key('story', 'story')
  const answers: (StoryAnswer | undefined)[] = []
  let isOver = false
  const clients = [first, second, first, second].map(async ({ url }, index) => {
    while (!isOver) answers.push(await askStory(url, secret, index % 2 === 0))
  })

  try {
    await Promise.all([first, second].map(({ url }) => untilServed(url, secret)))
    fault.begin()
    for (const { url } of [first, second]) {
      while ((await askStory(url, secret, false))?.code !== 'ledger_unavailable');
      assert.equal((await fetch(`${url}/healthz`)).status, 200)
    }
    fault.end()
    await Promise.all([first, second].map(({ url }) => untilServed(url, secret)))
  } finally {
    isOver = true
    await Promise.all(clients)
  }
  for (const answer of answers) {
    const isRefused = answer?.status === 503 && answer.code === 'ledger_unavailable'
    assert.ok(answer?.isWhole === true || isRefused, JSON.stringify(answer))
  }
  await addsUp(first, provider)
  // No node was declared dead while none could beat.
  assert.deepEqual(await first.tollgate('ledger', 'orphans'), { orphans: [] })
}

/** A server whose disk is faulty for files with this part in their path. */
async function onDisk(
  part: string,
  slowMs: number,
): Promise<{ readonly disk: FaultyDisk; readonly postgres: MortalPostgres }> {
  const scratch = mkdtempSync(join(tmpdir(), 'tollgate-disk-'))
  folders.push(scratch)
  const disk = faultyDisk({ folder: part, scratch, slowMs })
  return { disk, postgres: await startMortalPostgres(disk.env) }
}
