// What one serving process tells of itself when it is asked: what it has counted, how its targets and its ledger fare, and
// what Node knows of it.
import { targetName, type Catalog } from '../catalog/models.ts'
import type { NodeLedger } from '../ledger/open.ts'
import { STANDINGS } from '../routing/breaker.ts'
import type { Counts } from '../telemetry/counts.ts'
import { figureOf, METRICS, type Figure } from '../telemetry/metrics.ts'
import type { AdminParts } from './parts.ts'

type ProcessParts = Pick<AdminParts, 'version'> & {
  readonly counts: Counts
  readonly ledger: Pick<NodeLedger, 'canWrite'>
  /** What there is to call at present, and how it fares. */
  readonly supply: Pick<AdminParts, 'standingOf'> & { readonly catalog: Catalog }
}

export async function processFigures(parts: ProcessParts): Promise<readonly Figure[]> {
  const { version, counts, ledger, supply } = parts
  const { runtimeFigures } = await import('../telemetry/exposition.ts')
  return [
    figureOf(METRICS.build, [[[version], 1]]),
    ...counts.figures(),
    figureOf(METRICS.standing, standings(supply)),
    figureOf(METRICS.writable, [[[], ledger.canWrite() ? 1 : 0]]),
    ...(await runtimeFigures()),
  ]
}

/** All four of every target, so that an alert about one of them is not about a series that comes and goes. */
function standings(supply: ProcessParts['supply']) {
  return [...targetsOf(supply.catalog)].flatMap(([name, target]) => {
    const standing = supply.standingOf(target).name
    return STANDINGS.map((each) => [[name, each], each === standing ? 1 : 0] as const)
  })
}

/** Each once, however many models it serves. */
function targetsOf(catalog: Catalog) {
  const targets = catalog.list().flatMap((model) => [...model.targets, ...model.fallbacks])
  return new Map(targets.map((target) => [targetName(target.provider, target.model), target]))
}
