// Whether Tollgate would accept a draft and serve its models: by the same checks as `tollgate check`, with placeholders
// for what only the environment knows.
import { bundledPrices } from '../catalog/price-data.ts'
import { targetName, type Catalog, type Model } from '../catalog/models.ts'
import { catalogOf } from '../config/catalog-of.ts'
import { crossCheck } from '../config/cross-check.ts'
import { toEntry } from '../config/load.ts'
import { problemsOf, type Problem } from '../config/problems.ts'
import { file } from '../config/schema.ts'
import { isObject } from '../core/json.ts'
import { priceListOf, providerSettings } from '../providers/adapters.ts'
import { documentOf, type Draft } from './draft.ts'

type Verdict = {
  readonly problems: readonly Problem[]
  /** Null: the draft is not valid. */
  readonly catalog: Catalog | null
}

export function verify(draft: Draft, now: number): Verdict {
  const document = filled(documentOf(draft))
  const { data, error } = file.safeParse(document)
  if (data === undefined) return { problems: problemsOf(error, []), catalog: null }
  const { providers = {}, models = {}, sandbox } = data
  const problems = crossCheck(data, new Set(Object.keys(providers)))
  if (problems.length > 0) return { problems, catalog: null }
  const named = Object.entries(providers).map(([name, settings]) => ({ ...settings, name }))
  const entries = Object.entries(models).map(([id, model]) => toEntry(id, model))
  const config = { providers: named, leftOut: new Map(), keyless: [], models: entries, sandbox }
  return { problems: [], catalog: catalogOf(config, { sandbox: [], now }) }
}

type Unserved = {
  readonly model: string
  /** PROVIDER/MODEL */
  readonly target: string
  readonly reason: string
}

/** Targets that would not be served, with what is missing. */
export function unservedIn(draft: Draft, models: readonly Model[]): readonly Unserved[] {
  return models.flatMap(({ id, leftOut }) =>
    leftOut.flatMap(({ role, index, reason }) => {
      const target = draft.models.get(id)?.[role][index]
      if (target === undefined) return []
      return [{ model: id, target: targetName(target.provider, target.model), reason }]
    }),
  )
}

/** Whether the price data has a price for a provider's model, under its own name. */
export function isPricedHere(
  settings: Readonly<Record<string, unknown>>,
  model: string,
  now: number,
): boolean {
  const { data } = providerSettings.safeParse(filled(settings))
  const list = data === undefined ? null : priceListOf(data)
  return list !== null && bundledPrices({ list, model, now }) !== undefined
}

const SOMEWHERE = 'https://set-by-a-variable.invalid/v1'

/** Variables and files hold what they hold when the gateway starts. */
function filled(value: unknown, name = ''): unknown {
  if (typeof value === 'string') {
    if (!/^file:|(?<!\$)\$\{/.test(value)) return value
    if (name === 'base_url') return SOMEWHERE
    return name === 'credentials' ? '' : 'set-by-a-variable'
  }
  if (Array.isArray(value)) return value.map((each) => filled(each))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filled(each, key)]))
}
