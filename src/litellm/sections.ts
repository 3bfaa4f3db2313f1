// What the general sections of a LiteLLM configuration say that Tollgate has a setting for: the budget above all keys,
// limits, timeouts, discounts and margins; other names of models, and what takes over when one fails, which may stand in
// two sections.
import { parseBudget } from '../core/money.ts'
import { parseDuration } from '../core/units.ts'
import { seconds } from './deployments.ts'
import { Params, type Findings } from './findings.ts'
import { numberIn, type Setting } from './source.ts'
import { periodOf } from './units.ts'

export type Adjustments = {
  /** Sections of the file, as they are written. */
  readonly sections: Readonly<Record<string, unknown>>
  readonly remarks: ReadonlyMap<string, string>
  /** Settings of every provider with this prefix there. */
  readonly discountOf: (prefix: string) => Readonly<Record<string, unknown>>
  /** What a written price is multiplied by. */
  readonly factorOf: (prefix: string) => number
}

export function readSections(
  sections: ReadonlyMap<string, Setting>,
  findings: Findings,
): Adjustments {
  const library = new Params(findings, [sections.get('litellm_settings')?.members])
  const general = new Params(findings, [sections.get('general_settings')?.members])
  const router = new Params(findings, [sections.get('router_settings')?.members])
  const remarks = new Map([
    ['server', 'LiteLLM listens on all addresses of the machine'],
    ['compat', 'old keys, either header, paths without /v1, names with their provider'],
  ])
  const size = general.number('max_request_size_mb')
  const factorOf = factors(library)
  const timeouts = timeoutsIn(router, library)
  const frame = frameIn(library, remarks)
  const kept = retentionIn(general)
  return {
    sections: {
      server: {
        host: '0.0.0.0',
        port: 4000,
        ...(size !== undefined && { body_limit: `${Math.max(1, Math.ceil(size))}MB` }),
      },
      compat: { litellm: true },
      frame,
      ...(kept !== undefined && { ledger: { keep_usage: kept } }),
    },
    remarks,
    factorOf,
    discountOf: (prefix) => {
      const discount = Number((1 - factorOf(prefix)).toFixed(6))
      return { ...timeouts, ...(discount !== 0 && { discount }) }
    },
  }
}

/** LiteLLM's budget of the whole proxy; without one, the largest that Tollgate has. */
function frameIn(library: Params, remarks: Map<string, string>) {
  const budget = library.find('max_budget')
  const amount = budget && numberIn(budget)
  if (budget === undefined || amount === undefined || !(amount > 0) || !isBudget(amount)) {
    remarks.set(
      'frame',
      'there is no budget above all keys there: set what you want to spend at most',
    )
    return { budget: 9_000_000, period: 'month' }
  }
  library.findings.take(budget)
  const duration = library.text('budget_duration')
  const { period, remark } = periodOf(duration ?? null)
  if (remark !== null) remarks.set('frame', remark)
  return { budget: amount, period }
}

function isBudget(amount: number): boolean {
  try {
    return parseBudget(String(amount)) > 0n
  } catch {
    return false
  }
}

function timeoutsIn(router: Params, library: Params) {
  const whole = router.number('timeout') ?? library.number('request_timeout')
  const stream = router.number('stream_timeout') ?? whole
  if (whole === undefined && stream === undefined) return {}
  return {
    timeouts: {
      ...(whole !== undefined && { first_byte: seconds(whole) }),
      ...(stream !== undefined && { idle: seconds(stream) }),
    },
  }
}

function retentionIn(general: Params): string | undefined {
  const setting = general.find('maximum_spend_logs_retention_period')
  if (setting === undefined || parseDuration(setting.text) === undefined) return undefined
  general.findings.take(setting)
  return setting.text
}

/** A discount of 0.05 takes 5 % off, a margin of 0.05 adds 5 %; `global` is for all. */
function factors(library: Params): (prefix: string) => number {
  const less = sharesIn(library, 'cost_discount_config')
  const more = sharesIn(library, 'cost_margin_config')
  return (prefix) => {
    const discount = less.get(prefix) ?? 0
    const margin = more.get(prefix) ?? more.get('global') ?? 0
    return (1 - discount) * (1 + margin)
  }
}

function sharesIn(library: Params, name: string): ReadonlyMap<string, number> {
  const shares = new Map<string, number>()
  for (const [prefix, setting] of library.find(name)?.members ?? []) {
    const percentage = setting.members?.get('percentage') ?? setting
    const share = numberIn(percentage)
    if (share === undefined || share <= -1 || share >= 1) continue
    library.findings.take(percentage)
    shares.set(prefix, share)
  }
  return shares
}

// The routes of a LiteLLM configuration beside its model list: other names of models, and what takes over when one
// fails. They may stand in two sections.

const SECTIONS = ['router_settings', 'litellm_settings']

type Sections = ReadonlyMap<string, Setting>

type Alias = { readonly alias: string; readonly to: string; readonly setting: Setting }

/** `alias: model`, or `alias: { model: …, hidden: true }`. */
export function readAliases(sections: Sections, findings: Findings): readonly Alias[] {
  const maps = [
    sections.get('router_settings')?.members?.get('model_group_alias'),
    sections.get('litellm_settings')?.members?.get('model_alias_map'),
  ]
  return maps.flatMap((map) =>
    [...(map?.members ?? [])].flatMap(([alias, setting]) => {
      const to = setting.members?.get('model')?.text ?? setting.text
      const hidden = setting.members?.get('hidden')
      if (hidden?.value === true) {
        findings.leave(hidden, 'a key’s list of models has every name that the key may call')
      }
      return to === '' ? [] : [{ alias, to, setting }]
    }),
  )
}

type Fallback = {
  readonly from: string
  readonly to: readonly string[]
  readonly setting: Setting
}

/** `[{ model: [others] }]`; `*` and default_fallbacks are for every model without its own. */
export function readFallbacks(
  sections: Sections,
  findings: Findings,
): { readonly own: readonly Fallback[]; readonly general: readonly string[] } {
  const general: string[] = []
  const own: Fallback[] = []
  for (const section of SECTIONS) {
    const members = sections.get(section)?.members
    const common = members?.get('default_fallbacks')
    if (common !== undefined) {
      findings.take(common)
      general.push(...textsIn(common))
    }
    const pairs = members?.get('fallbacks')?.items?.flatMap((item) => [...(item.members ?? [])])
    for (const [from, setting] of pairs ?? []) {
      const to = textsIn(setting)
      if (to.length === 0) continue
      if (from !== '*') own.push({ from, to, setting })
      else {
        findings.take(setting)
        general.push(...to)
      }
    }
  }
  return { own, general }
}

/** Entries that carry parameters of their own are left, and so named. */
function textsIn({ items, text }: Setting): readonly string[] {
  return (
    items?.flatMap((item) => (item.members === null ? item.text : [])) ?? [text].filter(Boolean)
  )
}
