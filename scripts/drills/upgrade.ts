// An earlier version and this one on one database, side by side and in turn, forth and back: both serve whichever of
// them migrated it, and the books balance.
import assert from 'node:assert/strict'
import { startGateway, type TestGateway } from '../../test/support/gateway.ts'
import { freshDatabase } from '../../test/support/postgres/postgres.ts'
import { callSandbox } from '../../test/support/sandbox.ts'
import { freshSqlite } from '../../test/support/store.ts'
import type { Drill } from '../drill.ts'
import { earlierVersion, type EarlierVersion } from './steps/earlier-version.ts'
import { timed, tollgate } from './steps/steps.ts'

const CALLS = 200
/** Of each call. */
const COST_NANODOLLARS = 203_000n

export const drill: Drill = {
  summary:
    'nodes of an earlier version (--from COMMIT) and of this one on one database, forth and back',
  run: async (options) => {
    const from = options[0] === '--from' ? options[1] : undefined
    const earlier = await earlierVersion(from)
    if (earlier === undefined) throw new Error(`there is no commit ${from ?? 'to upgrade from'}`)
    await upgrade(earlier, CALLS)
  },
}

export async function upgrade(earlier: EarlierVersion, calls: number): Promise<void> {
  console.log(`from ${earlier.name} to this version`)
  const postgres = await freshDatabase()
  await timed('PostgreSQL, side by side', () => sideBySide(postgres.url, earlier, calls))
  await postgres.drop()
  const sqlite = await freshSqlite()
  await timed('SQLite, in turn', () => inTurn(sqlite.url, earlier, calls))
  await sqlite.drop()
}

/** As several nodes are upgraded one after another, and then taken back. */
async function sideBySide(
  database: string,
  { command }: EarlierVersion,
  calls: number,
): Promise<void> {
  await using earlier = await startGateway({ database, command })
  const traffic = new Traffic(await earlier.key('upgrade', 'sandbox-chat'), calls)
  await traffic.over(earlier)
  console.log(await tollgate(['migrate', '--dry-run'], database))
  // Starting this version migrates the database under the other one's traffic.
  const [current] = await Promise.all([startGateway({ database }), traffic.over(earlier)])
  await using _ = current
  await traffic.over(earlier, current)
  await ended(earlier)
  const [again] = await Promise.all([startGateway({ database, command }), traffic.over(current)])
  await using __ = again
  await traffic.over(again, current)
  await ended(current)
  await traffic.over(again)
  await traffic.isBooked(again)
  await ended(again)
}

/** One process at a time: each version twice. */
async function inTurn(database: string, { command }: EarlierVersion, calls: number): Promise<void> {
  let traffic: Traffic | undefined
  for (const version of [{ command }, {}, { command }, {}]) {
    await using gateway = await startGateway({ database, ...version })
    traffic ??= new Traffic(await gateway.key('upgrade', 'sandbox-chat'), calls)
    await traffic.over(gateway)
    await traffic.isBooked(gateway)
    await ended(gateway)
  }
}

async function ended(gateway: TestGateway): Promise<void> {
  assert.equal((await gateway.stop()).code, 0)
}

/** Calls of one key, and what must be in the books for them. */
class Traffic {
  readonly #secret: string
  readonly #calls: number
  #answers = 0

  constructor(secret: string, calls: number) {
    this.#secret = secret
    this.#calls = calls
  }

  /** All at once, to these gateways in turn; each must be answered. */
  async over(...gateways: readonly TestGateway[]): Promise<void> {
    const statuses = await Promise.all(
      Array.from({ length: this.#calls }, (_, index) =>
        callSandbox(gateways[index % gateways.length]?.url ?? '', this.#secret),
      ),
    )
    assert.deepEqual(new Set(statuses), new Set([200]))
    this.#answers += statuses.length
  }

  /** As both versions read them. */
  async isBooked(gateway: TestGateway): Promise<void> {
    const own: Tell = (...words) => gateway.tollgate(...words)
    for (const tell of [own, ofThisVersion(gateway)]) {
      assert.partialDeepStrictEqual(await tell('ledger', 'verify', '--quiescent'), { ok: true })
      const { rows } = (await tell('usage')) as { readonly rows: readonly Usage[] }
      const requests = rows.reduce((sum, row) => sum + row.requests, 0)
      const cost = rows.reduce((sum, row) => sum + nanodollars(row.cost), 0n)
      assert.deepEqual(
        { requests, cost },
        { requests: this.#answers, cost: BigInt(this.#answers) * COST_NANODOLLARS },
      )
    }
  }
}

type Usage = { readonly requests: number; readonly cost: string }

type Tell = (...words: string[]) => Promise<Record<string, unknown>>

function ofThisVersion({ environment }: TestGateway): Tell {
  return async (...words) =>
    JSON.parse(
      await tollgate([...words, '--json'], environment['TOLLGATE_DATABASE'] ?? ''),
    ) as Record<string, unknown>
}

function nanodollars(usd: string): bigint {
  const [whole = '', part = ''] = usd.split('.')
  return BigInt(whole + part.padEnd(9, '0'))
}
