// Reads one entry of `model_list`: which provider serves it, under which public name, at what price and with what
// share of the traffic. An entry that cannot be served here is named with the reason.
import { counterpartOf, type Section } from './counterparts.ts'
import { Params, type Findings } from './findings.ts'
import { numberIn, type Setting } from './source.ts'
import type { TokenPrices } from './units.ts'
import { type Named, type Upstream, vendorOf } from './vendors.ts'

export type Deployment = Named &
  Omit<Upstream, 'model'> & {
    readonly entry: Setting
    /** What clients call. */
    readonly publicName: string
    /** The model's name at its provider. */
    readonly target: string
    readonly kind: 'chat' | 'embedding' | null
    /** As LiteLLM names it, for its price data. */
    readonly theirName: string
    readonly prices: TokenPrices
    readonly baseModel: string | null
    readonly context: number | null
    readonly maxOutput: number | null
    readonly defaultOutput: number | null
    readonly abilities: Readonly<Record<string, boolean>>
    readonly order: number
    /** Where its share of the traffic is written. */
    readonly shares: Readonly<Partial<Record<(typeof SHARES)[number], Setting>>>
    readonly timeouts: Timeouts
    readonly accessGroups: readonly string[]
  }

export type Timeouts = { readonly first_byte?: string; readonly idle?: string }

/** LiteLLM splits traffic by the first of these that its first deployment has. */
const SHARES = ['weight', 'rpm', 'tpm'] as const

const ABILITIES = {
  supports_function_calling: 'tools',
  supports_vision: 'images',
  supports_pdf_input: 'files',
  supports_response_schema: 'structured_output',
  supports_reasoning: 'reasoning',
} as const

/** What no endpoint here is for. */
const OTHER_KINDS =
  /dall-e|gpt-image|imagen|whisper|transcribe|\btts\b|speech|moderation|rerank|realtime|\bveo\b|\bsora\b|\bocr\b|turbo-instruct/
const CHAT_MODES = ['chat', 'responses']

type Reading = {
  readonly findings: Findings
  /** By name: the values of `credential_list`. */
  readonly credentials: ReadonlyMap<string, Setting>
}

/** Undefined: it is not taken over, and the findings say why. */
export function readDeployment(
  { findings, credentials }: Reading,
  entry: Setting,
): Deployment | undefined {
  const own = entry.members?.get('litellm_params')?.members
  const info = new Params(findings, [entry.members?.get('model_info')?.members])
  const credential = own?.get('litellm_credential_name')
  const params = new Params(findings, [own, credentials.get(credential?.text ?? '')?.members])
  const publicName = entry.members?.get('model_name')?.text ?? ''
  const model = params.find('model')?.text ?? ''
  const named = vendorOf(model, params.find('custom_llm_provider')?.text)
  const why =
    whyLeft({ publicName, model, params, info }) ?? (typeof named === 'string' ? named : null)
  if (why !== null || typeof named === 'string') {
    findings.leave(entry, why ?? '')
    return undefined
  }
  const upstream = named.vendor.connect(params, named.model)
  if (typeof upstream === 'string') {
    findings.leave(entry, upstream)
    return undefined
  }
  for (const name of ['model', 'custom_llm_provider', 'litellm_credential_name']) params.take(name)
  const nameSetting = entry.members?.get('model_name')
  if (nameSetting !== undefined) findings.take(nameSetting)
  const deployment = {
    ...named,
    ...upstream,
    entry,
    publicName,
    target: upstream.model,
    ...(credential !== undefined && { detail: credential.text }),
    theirName: model,
    ...factsIn(params, info),
    kind: kindOf(info, model),
    order: params.number('order') ?? Infinity,
    shares: sharesIn(params, entry),
    timeouts: timeoutsIn(params),
    accessGroups: (info.take('access_groups')?.items ?? []).map(({ text }) => text),
  }
  nameTheRest(findings, 'litellm_params', own)
  nameTheRest(findings, 'model_info', entry.members?.get('model_info')?.members)
  return deployment
}

type Judged = {
  readonly publicName: string
  readonly model: string
  readonly params: Params
  readonly info: Params
}

function whyLeft({ publicName, model, params, info }: Judged): string | null {
  if (!/^[^\s,]{1,200}$/.test(publicName)) {
    return `is called ${JSON.stringify(publicName.slice(0, 100))}: a name here has no spaces or commas`
  }
  if (/\/$|^$/.test(model)) return 'names a provider without a model'
  if (publicName.startsWith('sandbox-')) return 'has a name that is reserved for the sandbox here'
  if (params.has('mock_response'))
    return 'is played by mock_response: the sandbox plays models here'
  if (model.startsWith('auto_router/'))
    return 'chooses a model for each request: here clients choose'
  if (info.find('team_id') !== undefined) return 'belongs to one team: here allowlists offer models'
  const mode = info.find('mode')?.text ?? (OTHER_KINDS.test(model) ? 'other' : 'chat')
  if (CHAT_MODES.includes(mode) || mode === 'embedding') return null
  const what =
    mode === 'other' ? 'is neither a chat nor an embedding model' : `has the mode ${mode}`
  return `${what}: no endpoint here serves it`
}

function kindOf(info: Params, model: string): Deployment['kind'] {
  const mode = info.text('mode')
  if (mode !== undefined) return mode === 'embedding' ? 'embedding' : 'chat'
  return /embed/.test(model) ? 'embedding' : null
}

function factsIn(params: Params, info: Params) {
  const both = new Params(params.findings, [...params.sections, ...info.sections])
  const output = info.number('max_output_tokens') ?? info.number('max_tokens')
  return {
    prices: {
      input: both.number('input_cost_per_token') ?? null,
      output: both.number('output_cost_per_token') ?? null,
      cached: both.number('cache_read_input_token_cost') ?? null,
      cacheWrite: both.number('cache_creation_input_token_cost') ?? null,
      cacheWriteLong: both.number('cache_creation_input_token_cost_above_1hr') ?? null,
    },
    baseModel: info.text('base_model') ?? params.text('base_model') ?? null,
    context: info.number('max_input_tokens') ?? null,
    maxOutput: output ?? null,
    defaultOutput: params.number('max_tokens') ?? null,
    abilities: Object.fromEntries(
      Object.entries(ABILITIES).flatMap(([theirs, ours]) => {
        const flag = info.flag(theirs)
        return flag === undefined ? [] : [[ours, flag] as const]
      }),
    ),
  }
}

/** Written beside litellm_params in old files. */
function sharesIn(params: Params, entry: Setting): Deployment['shares'] {
  const all = new Params(params.findings, [...params.sections, entry.members])
  return Object.fromEntries(
    SHARES.flatMap((name) => {
      const setting = all.find(name)
      return setting === undefined || numberIn(setting) === undefined ? [] : [[name, setting]]
    }),
  )
}

/** LiteLLM waits this long for the next bytes; for those of a stream there may be another limit. */
function timeoutsIn(params: Params): Timeouts {
  const whole = params.number('timeout')
  const stream = params.number('stream_timeout') ?? whole
  return {
    ...(whole !== undefined && { first_byte: seconds(whole) }),
    ...(stream !== undefined && { idle: seconds(stream) }),
  }
}

/** At least a millisecond, at most what Tollgate takes. */
export function seconds(count: number): string {
  const ms = Math.min(Math.max(Math.round(count * 1_000), 1), 86_400_000)
  return ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`
}

/** What nothing above has read: by the table, or as something that LiteLLM would send along. */
function nameTheRest(
  findings: Findings,
  section: Section,
  members: ReadonlyMap<string, Setting> | null | undefined,
): void {
  for (const [name, setting] of members ?? []) {
    const isEmpty = setting.value === null && !(setting.members ?? setting.items)
    const isShare = SHARES.some((share) => share === name)
    if (findings.isSettled(setting) || isEmpty || isShare) continue
    const row = counterpartOf(section, name)
    if (setting.value === false) findings.needless(setting, 'is off')
    else if (row?.is === 'needless') findings.needless(setting, row.here)
    else if (row?.is === 'left') findings.leave(setting, row.here)
    else findings.leave(setting, UNREAD[section] ?? '')
  }
}

const UNREAD: Partial<Record<Section, string>> = {
  litellm_params: 'is sent along with every request there: here a client sends what it wants',
  model_info: 'is information for clients there: nothing here reads it',
}

/** As LiteLLM's `simple-shuffle` does it: by what the first deployment has. Zero: no traffic, but a fallback. */
export function weightsOf(group: readonly Deployment[], findings: Findings) {
  const by = SHARES.find((name) => group[0]?.shares[name] !== undefined)
  const shares = group.map(({ shares: each }) => {
    const setting = by && each[by]
    return Math.max(0, (setting && numberIn(setting)) ?? 0)
  })
  const most = Math.max(...shares)
  const isSplit = group.length > 1 && most > 0
  for (const { shares: each } of group) {
    for (const [name, setting] of Object.entries(each)) {
      if (isSplit && name === by) findings.take(setting)
      else findings.leave(setting, 'a target has no limits of its own')
    }
  }
  if (by === undefined || !isSplit) return { weights: [], remark: null }
  const isWhole = shares.every((share) => Number.isInteger(share)) && most <= 1_000
  const scaled = isWhole ? lowered(shares) : shares.map((share) => (share / most) * 100)
  const weights = scaled.map((share) => (share === 0 ? 0 : Math.max(1, Math.round(share))))
  return { weights, remark: by === 'weight' ? null : `weights: in the proportion of ${by} there` }
}

function lowered(shares: readonly number[]): readonly number[] {
  const divisor = shares.reduce((one, other) => gcd(one, other), 0)
  return divisor === 0 ? shares : shares.map((share) => share / divisor)
}

function gcd(one: number, other: number): number {
  return other === 0 ? one : gcd(other, one % other)
}
