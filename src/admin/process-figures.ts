// The metrics of one serving process: its counts, the standing of its targets, whether its ledger can write, and Node's
// own figures.
import { targetName, type Catalog } from '../catalog/models.ts'
import type { NodeLedger } from '../ledger/nodes/open.ts'
import { STANDINGS } from '../routing/breaker.ts'
import type { Counts } from '../telemetry/metrics.ts'
import { figureOf, METRICS, type Figure } from '../telemetry/metrics.ts'
import type { AdminParts } from './parts.ts'

type ProcessParts = Pick<AdminParts, 'version'> & {
  readonly counts: Counts
  readonly ledger: Pick<NodeLedger, 'canWrite'>
  /** The current catalogue, and the standing of its targets. */
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

/** All four standings of every target, so that an alert never watches a series that comes and goes. */
function standings(supply: ProcessParts['supply']) {
  return [...targetsOf(supply.catalog)].flatMap(([name, target]) => {
    const standing = supply.standingOf(target).name
    return STANDINGS.map((each) => [[name, each], each === standing ? 1 : 0] as const)
  })
}

/** Each target once, however many models it serves. */
function targetsOf(catalog: Catalog) {
  const targets = catalog.list().flatMap((model) => [...model.targets, ...model.fallbacks])
  return new Map(targets.map((target) => [targetName(target.provider, target.model), target]))
}
