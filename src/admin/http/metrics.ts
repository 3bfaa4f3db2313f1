// What /metrics answers: the figures of all serving processes, and of the books. Books that cannot be read in time are
// left out, because the processes need watching most while the database is away; then callers are known by their tokens.
import type { Catalog } from '../../catalog/models.ts'
import type { Clock } from '../../core/clock.ts'
import type { Nanodollars } from '../../core/money.ts'
import { hashSecret } from '../../core/secret.ts'
import { HOUR_MS, usd } from '../../core/units.ts'
import type { Overload } from '../../exchange/admission.ts'
import type { NodeLedger } from '../../ledger/nodes/open.ts'
import { reportUsage, type UsageLine } from '../../ledger/reports/report.ts'
import { HEALTH_NAMES } from '../../routing/breaker.ts'
import { limitWithTopUp, type AccountView } from '../../store/accounts/accounts.ts'
import { answerWithin, isOutage } from '../../store/database/outage.ts'
import type { Store } from '../../store/database/store.ts'
import { partOfFrame, readFrame, type Frame } from '../../store/frame.ts'
import { listGroups, type Group } from '../../store/groups/groups.ts'
import { countKeysByStatus } from '../../store/keys/counts.ts'
import { findKeys, type Key } from '../../store/keys/keys.ts'
import { searchKeys } from '../../store/keys/search.ts'
import { figureOf, METRICS, OTHER, type Counts, type Figure } from '../../telemetry/metrics.ts'
import { AdminError } from '../contract/errors.ts'
import type { AdminParts } from './request.ts'
import type { Identify, Person } from './guard.ts'

export type Metrics = () => Promise<{ readonly type: string; readonly text: string }>

const BOOKS_MS_MAX = 1_000

type MetricsParts = Pick<AdminParts, 'store' | 'figures' | 'metricsKeysMax'>

export function makeMetrics({ store, figures, metricsKeysMax }: MetricsParts): Metrics {
  return async () => {
    const { addUp, CONTENT_TYPE, textOf } = await import('../../telemetry/exposition.ts')
    const [all, books] = await Promise.all([figures(), readInTime(store, metricsKeysMax)])
    const readable = figureOf(METRICS.readable, [[[], books === undefined ? 0 : 1]])
    const text = await textOf([...(await addUp(all)), readable, ...(books ?? [])])
    return { type: CONTENT_TYPE, text }
  }
}

/** Undefined: the database does not answer. */
async function readInTime(store: Store, keysMax: number): Promise<readonly Figure[] | undefined> {
  try {
    return await answerWithin(BOOKS_MS_MAX, readBooks(store, keysMax))
  } catch (thrown) {
    if (isOutage(thrown)) return undefined
    throw thrown
  }
}

/** Reads the ledger's running sums, so that it does not slow down with the number of keys and requests. */
async function readBooks(store: Store, keysMax: number): Promise<readonly Figure[]> {
  const [frame, keys, { rows: models }, latest, groups] = await Promise.all([
    readFrame(store),
    countKeysByStatus(store),
    reportUsage(store, { since: 0, until: store.clock.now(), by: ['model'] }),
    latestOf(store, keysMax),
    listGroups(store),
  ])
  // A name under which nothing was ever used may be one that a client made up.
  const used = models.filter(
    (row) => row.inputTokens + row.outputTokens > 0 || row.costNanodollars > 0n,
  )
  const { spentNanodollars, heldNanodollars, remainingNanodollars } = frame
  return [
    figureOf(METRICS.limit, [[[], numberOf(limitWithTopUp(frame))]]),
    figureOf(METRICS.spent, [[[], numberOf(spentNanodollars)]]),
    figureOf(METRICS.held, [[[], numberOf(heldNanodollars)]]),
    figureOf(METRICS.remaining, [[[], numberOf(remainingNanodollars)]]),
    ...keyFigures(latest, frame),
    ...groupFigures(groups, keysMax),
    figureOf(
      METRICS.keys,
      Object.entries(keys).map(([status, count]) => [[status], count]),
    ),
    figureOf(METRICS.tokens, used.flatMap(tokensOf)),
    figureOf(
      METRICS.cost,
      used.map(({ model, costNanodollars }) => [[model ?? ''], numberOf(costNanodollars)]),
    ),
  ]
}

/** The keys that were used last: an index has them. */
async function latestOf(store: Store, most: number): Promise<readonly Key[]> {
  if (most === 0) return []
  const page = { sort: 'last_used_at', order: 'desc', limit: most, offset: 0 } as const
  return findKeys(store, await searchKeys(store, { filter: {}, ...page }))
}

/** Together they spent what the frame did. */
function keyFigures(keys: readonly Key[], frame: Frame): readonly Figure[] {
  const labelsOf = ({ id, groupId, name }: Key) => [id, groupId ?? '', name]
  const spent = keys.map((key) => [labelsOf(key), partOfFrame(key, frame)] as const)
  const rest = frame.spentNanodollars - sumOf(spent.map(([, amount]) => amount))
  return [
    figureOf(METRICS.keySpent, amounts([...spent, [[OTHER, '', ''], rest]])),
    figureOf(METRICS.keyRemaining, keys.flatMap(leftOf(labelsOf))),
  ]
}

function groupFigures(groups: readonly Group[], most: number): readonly Figure[] {
  const labelsOf = ({ id, name }: Group) => [id, name]
  const bySpent = groups.toSorted((a, b) => Number(b.spentNanodollars - a.spentNanodollars))
  const [shown, others] = [bySpent.slice(0, most), bySpent.slice(most)]
  const rest = sumOf(others.map(({ spentNanodollars }) => spentNanodollars))
  const spent = shown.map((group) => [labelsOf(group), group.spentNanodollars] as const)
  return [
    figureOf(METRICS.groupSpent, amounts([...spent, [[OTHER, ''], rest]])),
    figureOf(METRICS.groupRemaining, shown.flatMap(leftOf(labelsOf))),
  ]
}

function amounts(values: readonly (readonly [readonly string[], Nanodollars])[]) {
  return values.map(([labels, amount]) => [labels, numberOf(amount)] as const)
}

function sumOf(values: readonly Nanodollars[]): Nanodollars {
  return values.reduce((sum, amount) => sum + amount, 0n)
}

/** Of its main budget or its second window, whichever has less; nothing where it has neither. */
function leftOf<Account extends AccountView>(labelsOf: (account: Account) => readonly string[]) {
  return (account: Account): (readonly [readonly string[], number])[] => {
    const { remainingNanodollars: main, window } = account
    const left = [main, window && window.remainingNanodollars].filter((each) => each !== null)
    const [least] = left.toSorted((a, b) => Number(a - b))
    return least === undefined ? [] : [[labelsOf(account), numberOf(least)]]
  }
}

function tokensOf({ model, ...sums }: UsageLine) {
  const counts = {
    input: sums.inputTokens,
    cached: sums.cachedTokens,
    cache_write: sums.cacheWriteTokens,
    output: sums.outputTokens,
    reasoning: sums.reasoningTokens,
  }
  return Object.entries(counts).map(([kind, count]) => [[model ?? '', kind], count] as const)
}

/** Prometheus has only floating point; the books themselves stay exact. */
function numberOf(amount: Nanodollars): number {
  return Number(usd(amount))
}

type ProcessParts = Pick<AdminParts, 'version'> & {
  readonly counts: Counts
  readonly overload: Pick<Overload, 'waiting' | 'isShedding'>
  readonly ledger: Pick<NodeLedger, 'canWrite'>
  /** The current catalogue, and the standing of its targets. */
  readonly registry: Pick<AdminParts, 'healthOf'> & { readonly catalog: Catalog }
}

/** Of one serving process: its counts, the standing of its targets, whether its ledger can write, and Node's own. */
export async function processFigures(parts: ProcessParts): Promise<readonly Figure[]> {
  const { version, counts, overload, ledger, registry } = parts
  const { runtimeFigures } = await import('../../telemetry/exposition.ts')
  return [
    figureOf(METRICS.build, [[[version], 1]]),
    ...counts.figures(),
    figureOf(METRICS.waiting, [[[], overload.waiting]]),
    figureOf(METRICS.overloaded, [[[], overload.isShedding ? 1 : 0]]),
    figureOf(METRICS.standing, standings(registry)),
    figureOf(METRICS.writable, [[[], ledger.canWrite() ? 1 : 0]]),
    ...(await runtimeFigures()),
  ]
}

/** All four standings of every target, so that an alert never watches a series that comes and goes. */
function standings(registry: ProcessParts['registry']) {
  return [...targetsOf(registry.catalog)].flatMap(([name, target]) => {
    const standing = registry.healthOf(target).name
    return HEALTH_NAMES.map((each) => [[name, each], each === standing ? 1 : 0] as const)
  })
}

/** Each target once, however many models it serves. */
function targetsOf(catalog: Catalog) {
  const targets = catalog.list().flatMap((model) => [...model.targets, ...model.fallbacks])
  return new Map(targets.map((target) => [target.name, target]))
}

const IDENTITY_MS_MAX = 1_000
const KNOWN_FOR_MS = HOUR_MS

/** While the database does not answer, tokens that were good within the last hour open the page that reports it. */
export function lastingIdentity(identify: Identify, clock: Clock): Identify {
  /** By the hash of the Authorization header. */
  const known = new Map<string, { readonly person: Person; readonly untilMs: number }>()
  return async (request) => {
    const sent = hashSecret(String(request.headers['authorization'] ?? ''))
    const now = clock.monotonicMs()
    for (const [old, { untilMs }] of known) if (untilMs <= now) known.delete(old)
    try {
      const person = await answerWithin(IDENTITY_MS_MAX, identify(request))
      known.delete(sent)
      if (person?.via === 'token') {
        known.set(sent, { person, untilMs: clock.monotonicMs() + KNOWN_FOR_MS })
      }
      return person
    } catch (thrown) {
      const last = known.get(sent)
      if (thrown instanceof AdminError || last === undefined) throw thrown
      return last.person
    }
  }
}
